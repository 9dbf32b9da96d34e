// The page of the attention program: DATA.answers, one for each model.
document.body.append(attentionView(DATA.answers));

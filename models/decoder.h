// What a search sees of a model: a batch of hypotheses that grow by one token at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "core/ops/binary.h"
#include "core/scope.h"
#include "core/tensor.h"
#include "models/special_ids.h"

namespace gradzoo::models {

/// A batch of hypotheses, one a row, and the state that a model keeps of them. Any model with
///
///     State start(const Tensor& source, const Tensor& lengths) const;
///     Tensor decode_step(const Tensor& tokens, State& state) const;  // i64 [rows] -> [rows,
///     vocab]
///
/// and State::select(rows) fits, and the searches, which take a Decoder, know nothing of models.
/// It refers to the model, which must outlive it, and leaves no history.
class Decoder {
 public:
  /// One hypothesis for each row of source [batch, time], all of them empty.
  template <class Model>
  Decoder(const Model& model, const Tensor& source, const Tensor& lengths)
      : Decoder(model, started(model, source, lengths), begin_symbols(source)) {}
  template <class Model>
  Decoder(const Model&& temporary, const Tensor& source, const Tensor& lengths) = delete;

  /// Hypotheses that go on from a state of the model, say after a prefix: `first` i64 [rows] are
  /// the tokens of the first step. Throws when it has another shape.
  template <class Model, class State>
  Decoder(const Model& model, State state, const Tensor& first) : first_(first) {
    check_rows("Decoder", first, -1);
    const auto shared = std::make_shared<State>(std::move(state));
    step_ = [&model, shared](const Tensor& tokens) { return model.decode_step(tokens, *shared); };
    select_ = [shared](const Tensor& rows) { shared->select(rows); };
    rows_ = first.size(0);
  }

  /// Hypotheses that go on after the first lengths[b] tokens, at least one, of each prefix [batch,
  /// time], which a language model reads as its source. No begin symbol comes between.
  template <class Model>
  static Decoder after(const Model& model, const Tensor& prefix, const Tensor& lengths) {
    const Tensor last = last_tokens(prefix, lengths);
    return Decoder(model, started(model, prefix, lengths - 1), last);
  }

  Decoder(Decoder&&) = default;
  Decoder& operator=(Decoder&&) = default;

  std::int64_t rows() const { return rows_; }
  /// i64 [rows]: what the first step is given; the begin symbol, unless there is a prefix.
  const Tensor& first_tokens() const { return first_; }

  /// Appends a token to each hypothesis, i64 [rows], and gives the logits [rows, vocab] of the
  /// next. Throws when there are more or fewer tokens than rows, and when the model answers with
  /// another shape.
  Tensor step(const Tensor& tokens);

  /// Keeps these rows, i64 [n], in this order, each as often as it is named: row i of the result
  /// is row rows[i]. Throws when one is out of range.
  void select(const Tensor& rows);

 private:
  template <class Model>
  static auto started(const Model& model, const Tensor& source, const Tensor& lengths) {
    check_source(source);  // arguments may be evaluated in any order
    const NoGrad no_grad;
    return model.start(source, lengths);
  }
  static void check_source(const Tensor& source);
  static Tensor begin_symbols(const Tensor& source);
  static Tensor last_tokens(const Tensor& prefix, const Tensor& lengths);
  // An Error naming `what` unless x is i64 [rows] (-1: of any number).
  static void check_rows(const char* what, const Tensor& x, std::int64_t rows);

  std::function<Tensor(const Tensor&)> step_;
  std::function<void(const Tensor&)> select_;
  Tensor first_;
  std::int64_t rows_ = 0;
};

}  // namespace gradzoo::models

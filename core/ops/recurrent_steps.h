// Backward of the recurrent sequences while a graph of it is being recorded: by ops of one step
// each.
#pragma once

#include "core/node.h"

namespace gradzoo {

// The gradients of the inputs of a sequence op, from what it saved (recurrent_sequence.cpp says
// what that is, in which order). They can be differentiated again.
Grads recorded_lstm(const BackwardContext& context, bool backwards);
Grads recorded_gru(const BackwardContext& context, bool backwards);
Grads recorded_rnn(const BackwardContext& context, bool relu, bool backwards);

}  // namespace gradzoo

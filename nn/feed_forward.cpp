// The position-wise feed-forward part of a Transformer, plain and gated.
#include "nn/feed_forward.h"

#include "core/ops/binary.h"
#include "core/ops/dropout.h"
#include "core/ops/unary.h"
#include "core/scope.h"

namespace gradzoo::nn {
namespace {

Tensor activate(FeedForwardKind kind, const Tensor& x) {
  switch (kind) {
    case FeedForwardKind::relu:
    case FeedForwardKind::reglu:
      return relu(x);
    case FeedForwardKind::gelu:
    case FeedForwardKind::geglu:
      return gelu(x);
    case FeedForwardKind::gelu_tanh:
      return gelu(x, Gelu::tanh);
    case FeedForwardKind::glu:
      return sigmoid(x);
    case FeedForwardKind::swiglu:
      return silu(x);
    case FeedForwardKind::bilinear:
      return x;
  }
  fail("FeedForward: there is no kind {}", static_cast<int>(kind));
}

}  // namespace

bool is_gated(FeedForwardKind kind) {
  return kind != FeedForwardKind::relu && kind != FeedForwardKind::gelu &&
         kind != FeedForwardKind::gelu_tanh;
}

FeedForward::FeedForward(const FeedForwardOptions& options, Rng& rng)
    : kind(options.kind), dropout(options.dropout) {
  const std::int64_t d_model = options.d_model, d_ff = options.d_ff;
  check(d_model >= 1 && d_ff >= 1,
        "FeedForward: the sizes must be at least 1, got d_model {} and d_ff {}", d_model, d_ff);
  check(dropout >= 0 && dropout <= 1, "FeedForward: dropout must be in [0, 1], got {}", dropout);
  const LinearOptions linear{.bias = options.bias};
  linear1 = Linear(d_model, d_ff, rng, linear);
  if (is_gated(kind)) linear3 = Linear(d_model, d_ff, rng, linear);
  linear2 = Linear(d_ff, d_model, rng, linear);
}

Tensor FeedForward::operator()(const Tensor& x) const {
  const Scope scope("FeedForward");
  Tensor hidden = activate(kind, linear1(x));
  if (linear3) hidden = hidden * (*linear3)(x);
  return linear2(gradzoo::dropout(hidden, dropout));
}

}  // namespace gradzoo::nn

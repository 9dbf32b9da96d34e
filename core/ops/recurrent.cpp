// Recurrent cells. An op has one output, but the h and c of an LSTM come from one pass over the
// gates: it is recorded as one tensor that holds them side by side, of which the two are slices.
// As two ops, each would have gradients of the size of all gates, half of them zeros.
#include "core/ops/recurrent.h"

#include "core/kernels/recurrent.h"
#include "core/node.h"
#include "core/ops/binary.h"
#include "core/ops/dispatch.h"
#include "core/ops/layout.h"
#include "core/ops/unary.h"
#include "core/ops/view.h"

namespace gradzoo {
namespace {

void check_cell(const char* op, const Tensor& gates, std::int64_t number, const Tensor& state) {
  check(gates.dtype() == state.dtype() && is_floating(gates.dtype()),
        "{}: gates and state must both be f32 or f64, got {} and {}", op, gates.dtype(),
        state.dtype());
  check(state.dim() == 2 && gates.shape() == Shape{state.size(0), number * state.size(1)},
        "{}: gates must be [batch, {} * n] for a state [batch, n], got {} and {}", op, number,
        gates.shape(), state.shape());
}

// Part k of those of width n that x has side by side.
Tensor part(const Tensor& x, std::int64_t k, std::int64_t n) {
  return slice(x, 1, k * n, (k + 1) * n);
}

Grads fused_lstm(const BackwardContext& context) {
  const Tensor gates = row_major(context.saved(0)), c = row_major(context.saved(1));
  const Tensor y = context.saved(2), dy = row_major(context.grad);
  const Tensor dgates = empty(gates.shape(), gates.dtype()), dc = empty(c.shape(), c.dtype());
  dispatch_floating("lstm_cell", y.dtype(), [&]<class T>() {
    kernels::lstm_cell_backward(gates.data<T>(), c.data<T>(), y.data<T>(), dy.data<T>(), c.size(0),
                                c.size(1), mutable_data<T>(dgates), mutable_data<T>(dc));
  });
  return {dgates, dc};
}

// The derivatives of sigmoid and tanh, from their values.
Tensor sigmoid_slope(const Tensor& s) { return s * (1 - s); }
Tensor tanh_slope(const Tensor& t) { return 1 - square(t); }

Grads composed_lstm(const BackwardContext& context) {
  const Tensor gates = context.saved(0), c = context.saved(1);
  const std::int64_t n = c.size(1);
  const Tensor i = sigmoid(part(gates, 0, n)), f = sigmoid(part(gates, 1, n));
  const Tensor g = tanh(part(gates, 2, n)), o = sigmoid(part(gates, 3, n));
  const Tensor t = tanh(f * c + i * g);
  const Tensor dh = part(context.grad, 0, n);
  const Tensor dcell = part(context.grad, 1, n) + dh * o * tanh_slope(t);
  return {concat({dcell * g * sigmoid_slope(i), dcell * c * sigmoid_slope(f),
                  dcell * i * tanh_slope(g), dh * t * sigmoid_slope(o)},
                 1),
          dcell * f};
}

Grads fused_gru(const BackwardContext& context) {
  const Tensor gates_x = row_major(context.saved(0)), gates_h = row_major(context.saved(1));
  const Tensor h = row_major(context.saved(2)), dy = row_major(context.grad);
  const Tensor dx = empty(gates_x.shape(), h.dtype()), dgates_h = empty(gates_x.shape(), h.dtype());
  const Tensor dh = empty(h.shape(), h.dtype());
  dispatch_floating("gru_cell", h.dtype(), [&]<class T>() {
    kernels::gru_cell_backward(gates_x.data<T>(), gates_h.data<T>(), h.data<T>(), dy.data<T>(),
                               h.size(0), h.size(1), mutable_data<T>(dx), mutable_data<T>(dgates_h),
                               mutable_data<T>(dh));
  });
  return {dx, dgates_h, dh};
}

Grads composed_gru(const BackwardContext& context) {
  const Tensor gates_x = context.saved(0), gates_h = context.saved(1), h = context.saved(2);
  const std::int64_t n = h.size(1);
  const Tensor r = sigmoid(part(gates_x, 0, n) + part(gates_h, 0, n));
  const Tensor z = sigmoid(part(gates_x, 1, n) + part(gates_h, 1, n));
  const Tensor h_n = part(gates_h, 2, n);
  const Tensor fresh = tanh(part(gates_x, 2, n) + r * h_n);
  const Tensor dfresh = context.grad * (1 - z) * tanh_slope(fresh);
  const Tensor dr = dfresh * h_n * sigmoid_slope(r);
  const Tensor dz = context.grad * (h - fresh) * sigmoid_slope(z);
  return {concat({dr, dz, dfresh}, 1), concat({dr, dz, dfresh * r}, 1), context.grad * z};
}

}  // namespace

LstmState lstm_cell(const Tensor& gates, const Tensor& c) {
  check_cell("lstm_cell", gates, 4, c);
  const std::int64_t batch = c.size(0), n = c.size(1);
  const Tensor packed = row_major(gates), packed_c = row_major(c);
  const Tensor y = empty({batch, 2 * n}, c.dtype());
  dispatch_floating("lstm_cell", c.dtype(), [&]<class T>() {
    kernels::lstm_cell(packed.data<T>(), packed_c.data<T>(), batch, n, mutable_data<T>(y));
  });
  record(y,
         {"lstm_cell", "gates, c",
          "y = [h, c'], c' = f*c + i*g, h = o*t, t = tanh(c'); i, f, g, o from gates",
          "dgates = [u*g, u*c, u*i, dh*t] * slopes; dc = u*f; u = dc' + dh*o*(1 - t^2)"},
         {gates, c}, {gates, c, y}, [](const BackwardContext& context) {
           return modes().grad_enabled ? composed_lstm(context) : fused_lstm(context);
         });
  return {part(y, 0, n), part(y, 1, n)};
}

Tensor gru_cell(const Tensor& gates_x, const Tensor& gates_h, const Tensor& h) {
  check_cell("gru_cell", gates_x, 3, h);
  check_cell("gru_cell", gates_h, 3, h);
  const Tensor packed_x = row_major(gates_x), packed_h = row_major(gates_h), old = row_major(h);
  const Tensor y = empty(h.shape(), h.dtype());
  dispatch_floating("gru_cell", h.dtype(), [&]<class T>() {
    kernels::gru_cell(packed_x.data<T>(), packed_h.data<T>(), old.data<T>(), h.size(0), h.size(1),
                      mutable_data<T>(y));
  });
  return record(y,
                {"gru_cell", "gx, gh, h",
                 "y = (1-z)*n + z*h; r, z = sigmoid(gx + gh), n = tanh(gx + r*gh), by thirds",
                 "dh = dy*z; dgx = [dr, dz, dn], dgh = [dr, dz, r*dn]; dn = dy*(1-z)*(1-n^2)"},
                {gates_x, gates_h, h}, {gates_x, gates_h, h}, [](const BackwardContext& context) {
                  return modes().grad_enabled ? composed_gru(context) : fused_gru(context);
                });
}

}  // namespace gradzoo

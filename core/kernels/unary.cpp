// Elementwise kernels of one array.
#include "core/kernels/unary.h"

#include <cmath>

#include "core/kernels/map.h"
#include "core/kernels/vector_math.h"

namespace gradzoo::kernels {
namespace {

// s' of s = sigmoid(u) is s (1 - s). gelu and silu multiply it by x, which may be infinite where
// it is 0; the product then counts as 0, its limit.
template <class T>
GRADZOO_INLINE T vanishing(T factor, T x) {
  return factor == 0 ? T(0) : factor * x;
}

// gelu by tanh: x (1 + tanh(u)) / 2 = x sigmoid(2u), which does not cancel for negative x, with
// 2u = kGelu (x + 0.044715 x^3).
constexpr double kGelu = 2 * 0.79788456080286535588;  // 2 sqrt(2 / pi)

template <class T>
GRADZOO_INLINE T gelu_gate(T x) {
  return math::sigmoid(T(kGelu) * (x + T(0.044715) * x * x * x));
}

}  // namespace

template <class T>
void neg(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return static_cast<T>(-Wrapping<T>(v)); });
}

template <class T>
void exp(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return math::exp(v); });
}

template <class T>
void log(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return math::log(v); });
}

template <class T>
void log1p(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return std::log1p(v); });
}

template <class T>
void sqrt(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return std::sqrt(v); });
}

template <class T>
void rsqrt(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return 1 / std::sqrt(v); });
}

template <class T>
void square(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return v * v; });
}

template <class T>
void abs(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return std::abs(v); });
}

template <class T>
void sin(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return std::sin(v); });
}

template <class T>
void cos(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return std::cos(v); });
}

template <class T>
void tanh(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return math::tanh(v); });
}

template <class T>
void sigmoid(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return math::sigmoid(v); });
}

template <class T>
void log_sigmoid(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return -math::softplus(-v); });
}

template <class T>
void relu(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return v <= 0 ? T(0) : v; });
}

template <class T>
void leaky_relu(const Walk<2>& walk, const T* x, T* y, double slope) {
  map(walk, x, y, [k = static_cast<T>(slope)](T v) { return v > 0 ? v : v * k; });
}

template <class T>
void gelu_erf(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return vanishing(math::normal_cdf(v), v); });
}

template <class T>
void gelu_tanh(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return vanishing(gelu_gate(v), v); });
}

template <class T>
void silu(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return vanishing(math::sigmoid(v), v); });
}

template <class T>
void softplus(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return math::softplus(v); });
}

template <class T>
void reciprocal(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return 1 / v; });
}

template <class T>
void clamp(const Walk<2>& walk, const T* x, T* y, double low, double high) {
  map(walk, x, y,
      [l = static_cast<T>(low), h = static_cast<T>(high)](T v) { return math::clamp(v, l, h); });
}

template <class T>
void sign(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return v > 0 ? T(1) : v < 0 ? T(-1) : v; });
}

template <class T>
void floor(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return std::floor(v); });
}

template <class T>
void normal_cdf(const Walk<2>& walk, const T* x, T* y) {
  map(walk, x, y, [](T v) { return math::normal_cdf(v); });
}

template <class T>
void sqrt_backward(const Walk<3>& walk, const T* dy, const T* y, T* dx) {
  map(walk, dy, y, dx, [](T g, T v) { return g == 0 && v == 0 ? T(0) : T(0.5) * g / v; });
}

template <class T>
void tanh_backward(const Walk<3>& walk, const T* dy, const T* y, T* dx) {
  map(walk, dy, y, dx, [](T g, T v) { return g * (1 - v * v); });
}

template <class T>
void sigmoid_backward(const Walk<3>& walk, const T* dy, const T* y, T* dx) {
  map(walk, dy, y, dx, [](T g, T v) { return g * (v * (1 - v)); });
}

template <class T>
void log_sigmoid_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx) {
  map(walk, dy, x, dx, [](T g, T v) { return g * math::sigmoid(-v); });
}

template <class T>
void relu_backward(const Walk<3>& walk, const T* dy, const T* y, T* dx) {
  map(walk, dy, y, dx, [](T g, T v) { return v <= 0 ? T(0) : g; });
}

template <class T>
void leaky_relu_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx, double slope) {
  map(walk, dy, x, dx, [k = static_cast<T>(slope)](T g, T v) { return v > 0 ? g : g * k; });
}

template <class T>
void gelu_erf_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx) {
  map(walk, dy, x, dx,
      [](T g, T v) { return g * (math::normal_cdf(v) + vanishing(math::normal_pdf(v), v)); });
}

template <class T>
void gelu_tanh_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx) {
  map(walk, dy, x, dx, [](T g, T v) {
    const T s = gelu_gate(v);
    const T slope = T(kGelu) * (1 + T(3 * 0.044715) * v * v);
    return g * (s + vanishing(s * (1 - s), v * slope));
  });
}

template <class T>
void silu_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx) {
  map(walk, dy, x, dx, [](T g, T v) {
    const T s = math::sigmoid(v);
    return g * (s + vanishing(s * (1 - s), v));
  });
}

template <class T>
void softplus_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx) {
  map(walk, dy, x, dx, [](T g, T v) { return g * math::sigmoid(v); });
}

template <class T>
void clamp_backward(const Walk<3>& walk, const T* dy, const T* x, T* dx, double low, double high) {
  map(walk, dy, x, dx, [l = static_cast<T>(low), h = static_cast<T>(high)](T g, T v) {
    return v >= l && v <= h ? g : T(0);
  });
}

template void neg(const Walk<2>&, const std::int64_t*, std::int64_t*);

#define INSTANTIATE(T)                                                               \
  template void neg(const Walk<2>&, const T*, T*);                                   \
  template void exp(const Walk<2>&, const T*, T*);                                   \
  template void log(const Walk<2>&, const T*, T*);                                   \
  template void log1p(const Walk<2>&, const T*, T*);                                 \
  template void sqrt(const Walk<2>&, const T*, T*);                                  \
  template void rsqrt(const Walk<2>&, const T*, T*);                                 \
  template void square(const Walk<2>&, const T*, T*);                                \
  template void abs(const Walk<2>&, const T*, T*);                                   \
  template void sin(const Walk<2>&, const T*, T*);                                   \
  template void cos(const Walk<2>&, const T*, T*);                                   \
  template void tanh(const Walk<2>&, const T*, T*);                                  \
  template void sigmoid(const Walk<2>&, const T*, T*);                               \
  template void log_sigmoid(const Walk<2>&, const T*, T*);                           \
  template void relu(const Walk<2>&, const T*, T*);                                  \
  template void leaky_relu(const Walk<2>&, const T*, T*, double);                    \
  template void gelu_erf(const Walk<2>&, const T*, T*);                              \
  template void gelu_tanh(const Walk<2>&, const T*, T*);                             \
  template void silu(const Walk<2>&, const T*, T*);                                  \
  template void softplus(const Walk<2>&, const T*, T*);                              \
  template void reciprocal(const Walk<2>&, const T*, T*);                            \
  template void clamp(const Walk<2>&, const T*, T*, double, double);                 \
  template void sign(const Walk<2>&, const T*, T*);                                  \
  template void floor(const Walk<2>&, const T*, T*);                                 \
  template void normal_cdf(const Walk<2>&, const T*, T*);                            \
  template void sqrt_backward(const Walk<3>&, const T*, const T*, T*);               \
  template void tanh_backward(const Walk<3>&, const T*, const T*, T*);               \
  template void sigmoid_backward(const Walk<3>&, const T*, const T*, T*);            \
  template void log_sigmoid_backward(const Walk<3>&, const T*, const T*, T*);        \
  template void relu_backward(const Walk<3>&, const T*, const T*, T*);               \
  template void leaky_relu_backward(const Walk<3>&, const T*, const T*, T*, double); \
  template void gelu_erf_backward(const Walk<3>&, const T*, const T*, T*);           \
  template void gelu_tanh_backward(const Walk<3>&, const T*, const T*, T*);          \
  template void silu_backward(const Walk<3>&, const T*, const T*, T*);               \
  template void softplus_backward(const Walk<3>&, const T*, const T*, T*);           \
  template void clamp_backward(const Walk<3>&, const T*, const T*, T*, double, double);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace gradzoo::kernels

// Someone else's program: it knows gradzoo by its headers and its library alone.
#include <fmt/core.h>

#include "core/ops.h"
#include "core/version.h"

int main() {
  gradzoo::Tensor x = gradzoo::tensor({{1, 2}, {3, 4}});
  x.requires_grad_();
  gradzoo::sum(gradzoo::square(x)).backward();
  fmt::print("gradzoo {}: {} {}\n", gradzoo::version(), x.grad().at({0, 1}), x.grad().at({1, 1}));
  try {
    x.size(2);
  } catch (const gradzoo::Error& error) {
    fmt::print("caught\n");
  }
}

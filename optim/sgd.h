// Stochastic gradient descent.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace gradzoo::optim {

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  double weight_decay = 0;  ///< L2: added to the gradient
  bool nesterov = false;
};

/// Steps of PyTorch's SGD. Each parameter is updated once a step, however often it was used; those
/// without a gradient stay as they are.
class Sgd {
 public:
  SgdOptions options;  ///< may be changed between steps, as a schedule does with lr

  /// Throws for options out of range, and for a parameter that does not require a gradient.
  explicit Sgd(std::vector<Tensor> parameters, const SgdOptions& options = {});

  void step();
  void zero_grad();

 private:
  std::vector<Tensor> parameters_;
  std::vector<Tensor> velocity_;  // undefined until first needed
};

}  // namespace gradzoo::optim

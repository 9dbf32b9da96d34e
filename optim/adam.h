// Adam and AdamW.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace gradzoo::optim {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  /// false: weight_decay is L2, added to the gradient (Adam). true: the parameter shrinks by
  /// lr * weight_decay, apart from the gradient (AdamW). The two take different paths.
  bool decoupled = false;
};

/// Steps of PyTorch's Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019). Parameters
/// without a gradient stay as they are.
class Adam {
 public:
  AdamOptions options;  ///< may be changed between steps, as a schedule does with lr

  /// Throws for options out of range, and for a parameter that does not require a gradient.
  explicit Adam(std::vector<Tensor> parameters, const AdamOptions& options = {});

  void step();
  void zero_grad();

 private:
  // Each parameter counts its own steps, since it may get its first gradient late.
  struct State {
    std::int64_t step = 0;
    Tensor mean, variance;
  };
  std::vector<Tensor> parameters_;
  std::vector<State> state_;
};

}  // namespace gradzoo::optim

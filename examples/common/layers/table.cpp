// The families of the table of layers, put together.
#include "examples/common/layers/table.h"

namespace gradzoo::examples {

Tensor joined(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> flat;
  for (const Tensor& output : outputs) flat.push_back(reshape(output, {output.numel()}));
  return concat(flat);
}

std::vector<LayerRow> layer_table() {
  std::vector<LayerRow> all;
  for (const auto& family :
       {linear_rows(), norm_rows(), score_rows(), attention_rows(), position_rows(),
        recurrent_rows(), conv_rows(), transformer_rows(), loss_rows()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

}  // namespace gradzoo::examples

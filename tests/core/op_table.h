// The table of ops: each public op once (an option that changes the formula gets a row of its own),
// with sample inputs and a reference in plain loops. op_table_test.cpp takes every row through
// values, gradcheck and gradgradcheck, and fails when an op of the public headers has no row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/ops.h"

namespace gradzoo::test {

/// One set of inputs. Floating inputs are f64; the test makes f32 copies and strided copies itself.
struct Sample {
  std::string name;  ///< "ordinary", "broadcast", "empty", "size 1", "edge: at the bound"
  std::vector<Tensor> inputs;
  bool gradients = true;  ///< false at kinks and infinities, which have tests of their own
};

struct OpRow {
  std::string op;       ///< its name in the public header
  std::string variant;  ///< what tells rows of one op apart: "erf", "axis 0, keepdim"
  std::function<Tensor(const std::vector<Tensor>&)> run;
  /// The same result (f64, i64 or boolean) by plain loops over at() and to_vector(), sharing no
  /// code with the op.
  std::function<Tensor(const std::vector<Tensor>&)> reference;
  std::function<std::vector<Sample>(Rng&)> samples;
  int derivatives = 2;     ///< 2: smooth; 1: the second is zero or undefined by nature; 0: none
  double rtol_f32 = 1e-5;  ///< of f32 against the f64 reference; a comment says why another
  double rtol_f64 = 1e-12;
};

/// The rows of each family, in tests/core/table/.
std::vector<OpRow> additive_rows();
std::vector<OpRow> binary_rows();
std::vector<OpRow> conv_rows();
std::vector<OpRow> create_rows();
std::vector<OpRow> index_rows();
std::vector<OpRow> loss_rows();
std::vector<OpRow> matmul_rows();
std::vector<OpRow> norm_rows();
std::vector<OpRow> pool_rows();
std::vector<OpRow> recurrent_rows();
std::vector<OpRow> reduce_rows();
std::vector<OpRow> softmax_rows();
std::vector<OpRow> unary_rows();
std::vector<OpRow> view_rows();

/// All of them.
std::vector<OpRow> all_rows();

}  // namespace gradzoo::test

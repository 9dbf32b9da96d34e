// What every row of the op table is taken through.
#pragma once

#include <string>
#include <vector>

#include "tests/core/op_table.h"

namespace gradzoo::test {

/// Everything that is wrong with a row, one line each, naming row, sample and kind of input:
/// - values in f64 and f32, contiguous and in three strided layouts, against the reference;
/// - gradcheck and gradgradcheck, on contiguous and strided leaves;
/// - inputs must come out as they went in; an op without gradient must say so when asked.
std::vector<std::string> problems_of(const OpRow& row, std::uint64_t seed = 1);

}  // namespace gradzoo::test

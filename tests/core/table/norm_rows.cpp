// Rows of the op table: norm.
#include "tests/core/op_table.h"

namespace gradzoo::test {

std::vector<OpRow> norm_rows() { return {}; }

}  // namespace gradzoo::test

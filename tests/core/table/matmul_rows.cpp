// Rows of the op table: matmul.
#include "tests/core/op_table.h"

namespace gradzoo::test {

std::vector<OpRow> matmul_rows() { return {}; }

}  // namespace gradzoo::test

// Rows of the op table: unary.
#include "tests/core/op_table.h"

namespace gradzoo::test {

std::vector<OpRow> unary_rows() { return {}; }

}  // namespace gradzoo::test

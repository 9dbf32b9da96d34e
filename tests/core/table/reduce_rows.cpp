// Rows of the op table: reduce.
#include "tests/core/op_table.h"

namespace gradzoo::test {

std::vector<OpRow> reduce_rows() { return {}; }

}  // namespace gradzoo::test

// Rows of the op table: binary.
#include "tests/core/op_table.h"

namespace gradzoo::test {

std::vector<OpRow> binary_rows() { return {}; }

}  // namespace gradzoo::test

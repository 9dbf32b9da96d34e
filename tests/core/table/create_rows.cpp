// Rows of the op table: create.
#include "tests/core/op_table.h"

namespace gradzoo::test {

std::vector<OpRow> create_rows() { return {}; }

}  // namespace gradzoo::test

// Rows of the op table: view.
#include "tests/core/op_table.h"

namespace gradzoo::test {

std::vector<OpRow> view_rows() { return {}; }

}  // namespace gradzoo::test

// Rows of the op table: index.
#include "tests/core/op_table.h"

namespace gradzoo::test {

std::vector<OpRow> index_rows() { return {}; }

}  // namespace gradzoo::test

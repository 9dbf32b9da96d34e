// Rows of the op table: loss.
#include "tests/core/op_table.h"

namespace gradzoo::test {

std::vector<OpRow> loss_rows() { return {}; }

}  // namespace gradzoo::test

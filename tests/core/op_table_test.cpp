// Takes every row of the op table through its checks, and the headers through the table: an op
// without a row is a failure.
#include "tests/core/op_table.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "core/node.h"
#include "tests/core/op_table_check.h"

using namespace gradzoo;
using namespace gradzoo::test;

namespace {

void check_rows(const std::vector<OpRow>& rows) {
  for (const OpRow& row : rows) {
    for (const std::string& problem : problems_of(row)) FAIL_CHECK(problem);
    CHECK(true);  // counts the row
  }
}

// Functions of the op headers that are no ops: name and reason.
const std::map<std::string, std::string> kNoOps = {
    {"tensor", "reads nested values: create_test.cpp"},
    {"from_vector", "copies a vector: create_test.cpp"},
};

// Headers for those who write ops, not for those who call them; update.h is for optimizers.
const std::set<std::string> kInnerHeaders = {"dispatch.h",        "layout.h",    "operands.h",
                                             "recurrent_steps.h", "reduction.h", "update.h",
                                             "windows.h"};

std::string read_without_comments(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, path.string());
  std::stringstream text;
  for (std::string line; std::getline(file, line);) text << line.substr(0, line.find("//")) << '\n';
  return text.str();
}

// The functions a header declares that return tensors. Operators do not match: they are other
// names of ops that have rows.
std::set<std::string> declared_ops(const std::string& text) {
  static const std::regex declaration(
      R"((?:^|[\s;}])(?:Tensor|std::vector<Tensor>|Ordered|LstmState|\w+Sequence))"
      R"(\s+([A-Za-z_]\w*)\s*\()");
  std::set<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it) {
    names.insert((*it)[1]);
  }
  return names;
}

// The headers that core/ops.h names, which is every header of ops but the inner ones.
std::set<std::string> ops_of_public_headers() {
  const std::filesystem::path root = GRADZOO_SOURCE_ROOT;
  const std::string all = read_without_comments(root / "core" / "ops.h");
  static const std::regex include(R"re(#include "(core/[a-z_/]+\.h)")re");
  std::set<std::string> names, headers;
  for (std::sregex_iterator it(all.begin(), all.end(), include), end; it != end; ++it) {
    headers.insert((*it)[1]);
    names.merge(declared_ops(read_without_comments(root / (*it)[1].str())));
  }
  for (const auto& entry : std::filesystem::directory_iterator(root / "core" / "ops")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".h" || kInnerHeaders.count(name) == 1) continue;
    CHECK_MESSAGE(headers.count("core/ops/" + name) == 1, name << " is not in core/ops.h");
  }
  return names;
}

// A row that is right, to be spoilt.
OpRow doubling_row() {
  const auto twice = [](const std::vector<Tensor>& in) { return in[0] + in[0]; };
  return {
      .op = "twice",
      .variant = "planted",
      .run = twice,
      .reference = twice,
      .samples = [](Rng& rng) {
        return std::vector<Sample>{{.name = "ordinary", .inputs = {rand({2, 3}, rng, DType::f64)}}};
      }};
}

bool reports(const OpRow& row, const std::string& text) {
  for (const std::string& problem : problems_of(row)) {
    if (problem.find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("op table: additive") { check_rows(additive_rows()); }
TEST_CASE("op table: binary") { check_rows(binary_rows()); }
TEST_CASE("op table: conv") { check_rows(conv_rows()); }
TEST_CASE("op table: create") { check_rows(create_rows()); }
TEST_CASE("op table: index") { check_rows(index_rows()); }
TEST_CASE("op table: loss") { check_rows(loss_rows()); }
TEST_CASE("op table: matmul") { check_rows(matmul_rows()); }
TEST_CASE("op table: norm") { check_rows(norm_rows()); }
TEST_CASE("op table: pool") { check_rows(pool_rows()); }
TEST_CASE("op table: recurrent") { check_rows(recurrent_rows()); }
TEST_CASE("op table: reduce") { check_rows(reduce_rows()); }
TEST_CASE("op table: softmax") { check_rows(softmax_rows()); }
TEST_CASE("op table: unary") { check_rows(unary_rows()); }
TEST_CASE("op table: view") { check_rows(view_rows()); }

TEST_CASE("op table: every op of the public headers has a row, and every row an op") {
  std::set<std::string> rows;
  for (const OpRow& row : all_rows()) rows.insert(row.op);
  const std::set<std::string> ops = ops_of_public_headers();
  CHECK(ops.size() > 100);
  std::string without_row, without_op, stale;
  for (const std::string& op : ops) {
    if (rows.count(op) == 0 && kNoOps.count(op) == 0) without_row += " " + op;
  }
  for (const std::string& row : rows) {
    if (ops.count(row) == 0) without_op += " " + row;
  }
  for (const auto& [name, reason] : kNoOps) {
    if (ops.count(name) == 0 || rows.count(name) == 1) stale += " " + name;
  }
  CHECK_MESSAGE(without_row.empty(), "ops without a row:" << without_row);
  CHECK_MESSAGE(without_op.empty(), "rows without an op in the headers:" << without_op);
  CHECK_MESSAGE(stale.empty(), "exempt without need:" << stale);
}

TEST_CASE("op table: no two rows have the same name") {
  std::set<std::string> seen;
  for (const OpRow& row : all_rows()) {
    CHECK_MESSAGE(seen.insert(row.op + " (" + row.variant + ")").second, row.op << row.variant);
  }
}

TEST_CASE("op table: declarations are found in a header's text") {
  const auto names = declared_ops(
      "Tensor add(const Tensor& a);\nstd::vector<Tensor> split(const Tensor& x);\n"
      "Ordered\nsort(const Tensor& x);\nTensor operator+(const Tensor& a);\nvoid f(Tensor x);");
  CHECK(names == std::set<std::string>{"add", "split", "sort"});
}

TEST_CASE("op table: a right row passes, and each kind of wrong one is found") {
  CHECK(problems_of(doubling_row()).empty());

  OpRow value = doubling_row();
  value.reference = [](const auto& in) { return in[0] * 2.00001; };
  CHECK(reports(value, "twice (planted), sample 'ordinary', values: "));

  OpRow shape = doubling_row();
  shape.run = [](const auto& in) { return unsqueeze(in[0] + in[0], 0); };
  CHECK(reports(shape, "values: shape [1, 2, 3], must be [2, 3]"));

  OpRow dtype = doubling_row();  // right in f64 only
  dtype.run = [](const auto& in) { return to(in[0] + in[0], DType::f64); };
  CHECK(reports(dtype, "f32, values: dtype f64, must be f32"));

  OpRow strides = doubling_row();  // ignores the strides
  strides.run = [](const auto& in) {
    const Tensor flat =
        view_of(in[0], in[0].shape(), contiguous_strides(in[0].shape()), in[0].impl().offset);
    return flat + flat;
  };
  CHECK(reports(strides, "transposed memory: "));
  CHECK(reports(strides, "every second element: "));

  OpRow writes = doubling_row();
  writes.run = [](const auto& in) {
    const Tensor y = in[0] + in[0];
    copy_into(in[0], y);
    return y;
  };
  CHECK(reports(writes, "the input afterwards: "));

  OpRow gradient = doubling_row();
  gradient.run = [](const auto& in) { return in[0] + in[0].detach(); };
  CHECK(reports(gradient, "gradcheck: 6 of 6 elements wrong"));

  OpRow second = doubling_row();  // the gradient is right, but has no history of its own
  second.run = [](const auto& in) {
    return record(
        in[0].detach() * in[0].detach(), "square", {in[0]}, {in[0]},
        [](const BackwardContext& c) -> Grads { return {c.grad * c.saved(0).detach() * 2.0}; });
  };
  second.reference = [](const auto& in) { return in[0] * in[0]; };
  CHECK_FALSE(reports(second, "gradcheck of the gradient itself"));
  CHECK(reports(second, "gradgradcheck: "));

  OpRow refusal = doubling_row();  // says it has no derivative, and gives one
  refusal.derivatives = 0;
  CHECK(reports(refusal, "the op has no derivative, but gives one when asked"));

  OpRow throws = doubling_row();
  throws.run = [](const auto&) -> Tensor { throw Error("twice: not today"); };
  CHECK(reports(throws, "values: threw: twice: not today"));
}

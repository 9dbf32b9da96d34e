// The check of a walk step by step.
#include "examples/common/walk/check_table.h"

#include <fmt/core.h>

#include "examples/common/walk/text_layout.h"

namespace gradzoo::examples {

std::vector<std::string> check_table(const Walk& walk, const CardOptions& options) {
  constexpr const char* kFormat = "{:<8}  {:>8}  {}{:<5}{}  {}";
  const Style& style = options.style;
  constexpr std::size_t kBefore = 8 + 2 + 8 + 2 + 5 + 2;  // columns before the op
  Lines lines;
  for (std::size_t i = 0; i < walk.steps.size(); ++i) {
    const StepCheck check = check_step(walk, i);
    if (check.differences == 0) continue;
    const std::size_t node = walk.steps[i].node;
    const std::string op = fmt::format("{} = {}", walk.label(node), walk.nodes[node].op.name);
    lines.push_back(fmt::format(kFormat, fmt::format("step {}", i + 1),
                                check.relative ? fmt::format("{:.1e}", *check.relative) : "-",
                                check.right ? style.green : style.red,
                                check.right ? "right" : "WRONG", style.plain,
                                cut(printable(op), options.width - kBefore)));
  }
  if (lines.empty()) return {};
  lines.insert(
      lines.begin(),
      style.dim + fmt::format(kFormat, "", "relative", "", "", "", "backward of") + style.plain);
  return lines;
}

}  // namespace gradzoo::examples

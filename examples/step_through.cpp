// step_through: steps through a computation and its gradients, one op at a time
#include <fmt/core.h>
#include <unistd.h>

#include <optional>

#include "core/file.h"
#include "examples/common/program.h"
#include "examples/common/terminal.h"
#include "examples/common/walk/screen.h"
#include "examples/common/walk/walk_page.h"
#include "examples/common/walk/walk_text.h"
#include "examples/lessons/lessons.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

struct Options {
  std::string lesson = "1";
  std::optional<std::string> html, dot;
  std::int64_t seed = 1;
  bool list = false;
  bool plain = false;
};

void add_options(CLI::App& app, Options& o) {
  app.add_option("LESSON", o.lesson, "number or name of a lesson")->capture_default_str();
  app.add_flag("--list", o.list, "only list the lessons");
  app.add_flag("--plain", o.plain,
               "print all steps one after the other, as is done when the output is no terminal");
  app.add_option("--html", o.html,
                 "write the lesson as a page that opens from disk: graph, steps, heat maps")
      ->type_name("FILE");
  app.add_option("--dot", o.dot,
                 "write the graphs of the lesson's functions, with values and gradients, for "
                 "Graphviz: dot -Tsvg -O FILE draws them")
      ->type_name("FILE");
  add_number(app, "--seed", o.seed, 0, INT64_MAX, "of what is random in a lesson");
}

int list() {
  for (const LessonEntry& entry : lesson_table()) {
    fmt::print("{:>2}  {:<20}  {}\n", entry.number, entry.name, entry.title);
  }
  return kDone;
}

void write_dot(const std::string& path, const Walk& walk) {
  AtomicFile file(path);
  for (const WalkGraph& graph : walk.graphs) file.write(graph.dot);
  file.commit();
}

void print_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) fmt::print("{}\n", line);
  fmt::print("\n");
}

int print_steps(const Walk& walk) {
  CardOptions options;
  options.style = terminal_style(may_decorate(STDOUT_FILENO));
  print_lines({options.style.bold + walk.title + options.style.plain});
  for (std::size_t i = 0; i < walk.steps.size(); ++i) print_lines(step_card(walk, i, options));
  print_lines(check_lines(walk, options));
  return check_walk(walk).wrong.empty() ? kDone : kCheckFailed;
}

int run(const Options& o) {
  if (o.list) return list();
  const Walk walk = run_lesson(find_lesson(o.lesson), static_cast<std::uint64_t>(o.seed));
  if (o.html) write_walk_page(*o.html, walk);
  if (o.dot) write_dot(*o.dot, walk);
  if (o.html || o.dot) return kDone;
  if (o.plain || isatty(STDOUT_FILENO) == 0) return print_steps(walk);
  return step_on_terminal(walk, [&] { return print_steps(walk); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Steps through a computation and its gradients, one op at a time: the rule, the numbers,\n"
      "what is added to which gradient, and a central difference beside each. On a terminal it\n"
      "goes by keys, and ? shows them. Elsewhere, and with --plain, all steps are printed, with\n"
      "exit code 4 if one of them is wrong.",
      "step_through");
  Options options;
  add_options(app, options);
  return run_program(app, argc, argv, [&] { return run(options); });
}

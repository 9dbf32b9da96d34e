// gradients: checks the gradients of every layer against finite differences
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/threads.h"
#include "examples/common/layers/check.h"
#include "examples/common/names.h"
#include "examples/common/program.h"
#include "examples/common/terminal.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

struct Options {
  std::optional<std::string> layer;
  double rtol = LayerCheckOptions{}.rtol;
  std::int64_t seed = 1;
  std::int64_t threads = num_threads();
  bool list = false;
  bool json = false;
};

void add_options(CLI::App& app, Options& o) {
  app.add_option("--layer", o.layer, "show the rows of this layer in full, tensor by tensor");
  app.add_flag("--list", o.list, "only list the layers and their options");
  app.add_flag("--json", o.json, "print each row as one line of JSON, and nothing else");
  add_number(app, "--rtol", o.rtol, 1e-16, 1,
             "largest |analytic - numeric| / (|numeric| + 0.01) that counts as right");
  add_number(app, "--seed", o.seed, 0, INT64_MAX, "of weights and inputs");
  add_number(app, "--threads", o.threads, 1, max_threads(), "threads of the kernels");
}

std::string title(const LayerRow& row) {
  return row.option.empty() ? row.layer : row.layer + ", " + row.option;
}

// The rows to check: all, or those of the layer that is asked for.
std::vector<LayerRow> chosen_rows(const std::optional<std::string>& layer) {
  const std::vector<LayerRow> all = layer_table();
  if (!layer) return all;
  std::vector<LayerRow> rows;
  std::vector<std::string> names;
  for (const LayerRow& row : all) {
    if (same_name(*layer, row.layer) || same_name(*layer, title(row))) rows.push_back(row);
    if (names.empty() || names.back() != row.layer) names.push_back(row.layer);
  }
  if (rows.empty()) {
    throw UsageError(fmt::format("--layer: there is no '{}'; the nearest: {} (--list: all)", *layer,
                                 nearest_names(*layer, names, 3)));
  }
  return rows;
}

std::string number(double relative) {
  return relative == 0 ? "0" : fmt::format("{:.1e}", relative);
}

// Prints the table line by line, as rows are done.
class Table {
 public:
  Table(const std::vector<LayerRow>& rows, const Options& options, const Style& style)
      : options_(options), style_(style) {
    for (const LayerRow& row : rows) {
      width_ = std::max(width_, std::max(row.layer.size(), row.option.size() + 2));
    }
    fmt::print("{}{:<{}} {:>6}  {:>12}  {:>15}\n", style_.bold, "", width_, "", "1st order",
               "2nd order");
    fmt::print("{:<{}} {:>6}  {:>7} {:>7}  {:>7} {:>7} {:>6}{}\n", "layer, option", width_,
               "params", "inputs", "weights", "inputs", "weights", "ms", style_.plain);
  }

  void add(const LayerRow& row, const LayerCheck& check) {
    std::string label = row.layer;
    if (!row.option.empty()) {
      if (row.layer != layer_) fmt::print("{}\n", row.layer);
      label = "  " + row.option;
    }
    layer_ = row.layer;
    fmt::print("{:<{}} {}", label, width_,
               in_color(fmt::format("{:>6}", check.parameters), check.parameters_ok, ""));
    for (const OrderCheck* order : {&check.first, &check.second}) {
      fmt::print("  {} {}", cell(order->relative(false)), cell(order->relative(true)));
    }
    fmt::print(" {:>6.1f}{}\n", 1e3 * check.seconds,
               check.ok() ? "" : "  " + in_color("WRONG", false, ""));
  }

 private:
  std::string in_color(const std::string& text, bool ok, const std::string& right) const {
    return (ok ? right : style_.red) + text + style_.plain;
  }

  std::string cell(const std::optional<double>& relative) const {
    if (!relative) return style_.dim + fmt::format("{:>7}", "-") + style_.plain;
    return in_color(fmt::format("{:>7}", number(*relative)), *relative <= options_.rtol,
                    style_.green);
  }

  const Options& options_;
  const Style& style_;
  std::size_t width_ = 13;
  std::string layer_;
};

void print_order(const char* heading, const OrderCheck& order, const Style& style) {
  std::size_t width = 13;
  for (const TensorCheck& t : order.tensors) width = std::max(width, t.name.size());
  fmt::print("  {}{:<{}} {:<12} {:<12} {:>13} {:>13} {:>7} {:>8}{}\n", style.bold, heading, width,
             "shape", "worst at", "analytic", "numeric", "error", "relative", style.plain);
  for (const TensorCheck& t : order.tensors) {
    fmt::print("  {:<{}} {:<12} {:<12} {:>13.7g} {:>13.7g} {:>7} {}{:>8}{}\n", t.name, width,
               to_string(t.shape), to_string(t.worst.index), t.worst.analytic, t.worst.numeric,
               number(t.worst.error), t.worst.ratio <= 1 ? style.green : style.red,
               number(t.relative), style.plain);
  }
  if (const TensorCheck* worst = order.worst()) {
    fmt::print("  the worst: {} at {}, relative error {}\n", worst->name, worst->worst.index,
               number(worst->relative));
  }
  if (!order.ok) fmt::print("  {}WRONG{} {}\n", style.red, style.plain, order.problem);
}

void print_in_full(const LayerRow& row, const LayerCheck& check, const Style& style) {
  fmt::print("{}{}{}: {} parameters, {}; {:.1f} ms\n", style.bold, title(row), style.plain,
             check.parameters,
             check.parameters_ok
                 ? "as on paper"
                 : fmt::format("{}but {} on paper{}", style.red, row.parameters, style.plain),
             1e3 * check.seconds);
  print_order("first order", check.first, style);
  print_order("second order", check.second, style);
  fmt::print("\n");
}

nlohmann::ordered_json json_of(const OrderCheck& order) {
  const auto or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  nlohmann::ordered_json json = {{"ok", order.ok},
                                 {"inputs", or_null(order.relative(false))},
                                 {"weights", or_null(order.relative(true))}};
  if (const TensorCheck* worst = order.worst()) {
    json["worst"] = {{"tensor", worst->name},
                     {"index", std::vector(worst->worst.index.begin(), worst->worst.index.end())},
                     {"analytic", worst->worst.analytic},
                     {"numeric", worst->worst.numeric},
                     {"error", worst->worst.error},
                     {"relative", worst->relative}};
  }
  if (!order.ok) json["problem"] = order.problem;
  return json;
}

void print_json(const LayerRow& row, const LayerCheck& check) {
  const nlohmann::ordered_json json = {
      {"layer", row.layer},
      {"option", row.option},
      {"ok", check.ok()},
      {"parameters", check.parameters},
      {"parameters_on_paper", row.parameters},
      {"first", json_of(check.first)},
      {"second", json_of(check.second)},
      {"seconds", check.seconds},
  };
  fmt::print("{}\n", json.dump());
}

int list(const std::vector<LayerRow>& rows) {
  for (const LayerRow& row : rows) fmt::print("{}\n", title(row));
  return kDone;
}

std::string count(std::size_t rows) { return fmt::format("{} row{}", rows, rows == 1 ? "" : "s"); }

void print_summary(std::size_t rows, const std::vector<std::string>& wrong, const Options& o,
                   double seconds, const Style& style) {
  if (wrong.empty()) {
    fmt::print("{}all right{}: {}, no relative error above {:g}; {:.1f} s\n", style.green,
               style.plain, count(rows), o.rtol, seconds);
    return;
  }
  fmt::print("{}{} of {} WRONG{}, with a relative error above {:g} or another problem:\n",
             style.red, wrong.size(), count(rows), style.plain, o.rtol);
  for (const std::string& row : wrong) fmt::print("  {}\n", row);
  if (!o.layer) fmt::print("--layer NAME shows one in full\n");
}

int run(const Options& o) {
  const std::vector<LayerRow> rows = chosen_rows(o.layer);
  if (o.list) return list(rows);
  set_num_threads(static_cast<int>(o.threads));
  const Style style = terminal_style(may_decorate(STDOUT_FILENO));
  const auto start = std::chrono::steady_clock::now();
  std::optional<Table> table;
  if (!o.json && !o.layer) table.emplace(rows, o, style);
  std::vector<std::string> wrong;
  watch_interrupts();
  for (const LayerRow& row : rows) {
    const LayerCheck check =
        check_layer(row, {.rtol = o.rtol, .seed = static_cast<std::uint64_t>(o.seed)});
    if (!check.ok()) wrong.push_back(title(row));
    if (o.json) {
      print_json(row, check);
    } else if (table) {
      table->add(row, check);
    } else {
      print_in_full(row, check, style);
    }
    flush_output();
    if (interrupted() != 0) return 128 + interrupted();
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  if (!o.json) print_summary(rows.size(), wrong, o, passed.count(), style);
  return wrong.empty() ? kDone : kCheckFailed;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Checks the gradients of every layer against finite differences, of first and second\n"
      "order, and prints the largest relative errors. Exit code 4 if one is too large.",
      "gradients");
  Options options;
  add_options(app, options);
  return run_program(app, argc, argv, [&] { return run(options); });
}

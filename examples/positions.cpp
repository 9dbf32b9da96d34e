// positions: draws the sinusoidal encoding and its dot-product matrix
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/file.h"
#include "core/ops.h"
#include "examples/common/page.h"
#include "examples/common/program.h"
#include "nn/position.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

using Json = nlohmann::ordered_json;
using Matrix = std::vector<std::vector<double>>;

enum class Format { terminal, html, svg, json };
constexpr std::array<const char*, 4> choice_names(Format) {
  return {"terminal", "html", "svg", "json"};
}

constexpr std::int64_t kMostNumbers = 150'000;  // of a page of less than 2 MB

struct Options {
  std::int64_t d_model = 64, length = 64;
  Format format = Format::terminal;
  std::optional<std::string> out;
};

// What is drawn.
struct Encoding {
  Matrix positions;  // [position, dimension]
  Matrix products;   // [position, position]
};

Matrix rows_of(const Tensor& x) {
  const std::vector<double> values = x.to_vector<double>();
  const auto width = static_cast<std::ptrdiff_t>(x.size(1));
  Matrix rows;
  for (auto row = values.begin(); row != values.end(); row += width) {
    rows.emplace_back(row, row + width);
  }
  return rows;
}

Encoding encoding_of(const Options& o) {
  const Tensor table = nn::sinusoidal_positions(o.length, o.d_model);
  return {rows_of(table), rows_of(matmul(table, transpose(table, 0, 1)))};
}

// Six decimals: more are not to be seen, and make a page large.
Json matrix_json(const Matrix& matrix) {
  Json rows = Json::array();
  for (const std::vector<double>& row : matrix) {
    Json cells = Json::array();
    // + 0.0 makes of -0 a 0.
    for (const double x : row) cells.push_back(std::round(x * 1e6) / 1e6 + 0.0);
    rows.push_back(std::move(cells));
  }
  return rows;
}

Json json_of(const Encoding& encoding) {
  return {{"d_model", encoding.positions.front().size()},
          {"length", encoding.positions.size()},
          {"encoding", matrix_json(encoding.positions)},
          {"products", matrix_json(encoding.products)}};
}

std::string page_of(const Encoding& encoding) {
  return page_html({.title = "Sinusoidal positions",
                    .body = "<h1>Sinusoidal positions</h1>\n<main id=\"positions\"></main>",
                    .scripts = {"dom.js", "heatmap.js", "chart.js", "positions.js"},
                    .styles = {"heatmap.css", "chart.css", "positions.css"}},
                   json_of(encoding));
}

struct Extremes {
  double low, high;
};
Extremes extremes(const Matrix& matrix) {
  Extremes e{matrix[0][0], matrix[0][0]};
  for (const std::vector<double>& row : matrix) {
    e.low = std::min(e.low, *std::min_element(row.begin(), row.end()));
    e.high = std::max(e.high, *std::max_element(row.begin(), row.end()));
  }
  return e;
}

// A heat map in a square of kSide pixels with its title above: from blue over white to red when
// `low` is below zero, else from white to blue.
constexpr double kSide = 320, kLeft = 30, kTop = 40;
std::string map_svg(const Matrix& matrix, double x, const std::string& title, Extremes e) {
  std::string text = fmt::format(
      "<text x=\"{0}\" y=\"{1}\">{2}</text>\n"
      "<g transform=\"translate({0} {3}) scale({4:.6g} {5:.6g})\" "
      "shape-rendering=\"crispEdges\">\n",
      x, kTop - 12, title, kTop, kSide / static_cast<double>(matrix[0].size()),
      kSide / static_cast<double>(matrix.size()));
  for (std::size_t row = 0; row < matrix.size(); ++row) {
    for (std::size_t column = 0; column < matrix[row].size(); ++column) {
      const double value = matrix[row][column];
      const double part = e.low < 0 ? std::abs(value) / std::max(-e.low, e.high)
                                    : (value - e.low) / std::max(e.high - e.low, 1e-9);
      text += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"1\" height=\"1\" fill=\"{}\" "
          "fill-opacity=\"{:.3f}\"/>\n",
          column, row, e.low < 0 && value > 0 ? "#b2182b" : "#2166ac", part);
    }
  }
  return text + "</g>\n";
}

// The dot products over the distance, below the maps.
std::string curve_svg(const std::vector<double>& products) {
  constexpr double width = 2 * kSide + kLeft, height = 120, top = kTop + kSide + 60;
  const Extremes e = extremes({products});
  std::string points;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const double across =
        products.size() > 1 ? static_cast<double>(i) / static_cast<double>(products.size() - 1) : 0;
    const double up = (products[i] - e.low) / std::max(e.high - e.low, 1e-9);
    points += fmt::format("{:.2f},{:.2f} ", kLeft + across * width, top + (1 - up) * height);
  }
  return fmt::format(
      "<text x=\"{0}\" y=\"{1}\">Dot product of position 0 and the position at a distance of 0 to "
      "{2}, from {3:.2f} to {4:.2f}</text>\n"
      "<polyline points=\"{5}\" fill=\"none\" stroke=\"#0072b2\" stroke-width=\"2\"/>\n",
      kLeft, top - 14, products.size() - 1, e.low, e.high, points);
}

std::string svg_of(const Encoding& encoding) {
  const Extremes e = extremes(encoding.products);
  const std::size_t length = encoding.products.size(), width = encoding.positions[0].size();
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 "
             "{0} "
             "{1}\" font-family=\"sans-serif\" font-size=\"13\">\n"
             "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
             2 * kSide + 3 * kLeft, kTop + kSide + 210) +
         map_svg(encoding.positions, kLeft,
                 fmt::format("{} positions, {} dimensions, -1 to 1", length, width), {-1, 1}) +
         map_svg(encoding.products, 2 * kLeft + kSide,
                 fmt::format("Dot products, {:.2f} to {:.2f}", e.low, e.high), e) +
         curve_svg(encoding.products.front()) + "</svg>\n";
}

// At most `most` places of 0 to count - 1, evenly spread; by odd steps, so that sines and cosines
// take turns.
std::vector<std::size_t> spread(std::size_t count, std::size_t most) {
  const std::size_t step = ((count + most - 1) / most) | 1U;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < count; i += step) places.push_back(i);
  return places;
}

std::string without_trailing_blanks(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

// A matrix in block characters, the darker the larger, with the numbers of its rows. A cell is
// `width` characters wide.
std::string blocks(const Matrix& matrix, double low, double high, std::size_t columns, int width) {
  constexpr std::array<const char*, 5> shades{" ", "░", "▒", "▓", "█"};
  std::string text;
  for (const std::size_t row : spread(matrix.size(), 24)) {
    std::string line = fmt::format("{:>5} ", row);
    for (const std::size_t column : spread(matrix[row].size(), columns)) {
      const double part = high > low ? (matrix[row][column] - low) / (high - low) : 1;
      const auto shade = static_cast<std::size_t>(std::clamp(5 * part, 0.0, 4.0));
      for (int i = 0; i < width; ++i) line += shades[shade];
    }
    text += without_trailing_blanks(line) + '\n';
  }
  return text;
}

// A bar for each of some distances.
std::string bars(const std::vector<double>& products) {
  constexpr double longest = 60;
  const double most = *std::max_element(products.begin(), products.end());
  std::string text;
  for (const std::size_t distance : spread(products.size(), 16)) {
    const auto length = static_cast<int>(std::max(products[distance], 0.0) / most * longest + 0.5);
    std::string line = fmt::format("{:>5} {:>8.2f} ", distance, products[distance]);
    for (int i = 0; i < length; ++i) line += "█";
    text += without_trailing_blanks(line) + '\n';
  }
  return text;
}

std::string terminal_text(const Encoding& encoding) {
  const Matrix& products = encoding.products;
  const Extremes e = extremes(products);
  const std::size_t length = products.size(), d_model = encoding.positions.front().size();
  return fmt::format(
      "Sinusoidal positions (Vaswani et al. 2017): {} positions, {} dimensions\n"
      "  dimension 2i: sin(p / 10000^(2i / {})), 2i + 1: cos of the same angle\n\n"
      "The encoding: a row for each position, from -1 (blank) to "
      "1 (full)\n{}\n"
      "Dot products of any two positions, from {:.2f} (blank) to {:.2f} (full)\n{}\n"
      "Dot product of position 0 and the position at a distance\n{}",
      length, d_model, d_model, blocks(encoding.positions, -1, 1, 64, 1), e.low, e.high,
      blocks(products, e.low, e.high, 24, 2), bars(products.front()));
}

std::string text_of(const Encoding& encoding, Format format) {
  switch (format) {
    case Format::html:
      return page_of(encoding);
    case Format::svg:
      return svg_of(encoding);
    case Format::json:
      return json_of(encoding).dump() + "\n";
    case Format::terminal:
      break;
  }
  return terminal_text(encoding);
}

int run(const Options& o) {
  const std::int64_t numbers = o.length * (o.d_model + o.length);
  if (numbers > kMostNumbers) {
    throw UsageError(fmt::format(
        "--length {} and --d-model {}: length * (d_model + length) is {}, at most {} can be drawn",
        o.length, o.d_model, numbers, kMostNumbers));
  }
  const std::string text = text_of(encoding_of(o), o.format);
  if (!o.out) {
    fmt::print("{}", text);
    return kDone;
  }
  AtomicFile file(*o.out);
  file.write(text);
  file.commit();
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Draws the sinusoidal positions of Transformers and the dot product of any two of them:\n"
      "in block characters, as a page that explains them (--format html --out FILE), as a\n"
      "picture, or as JSON.",
      "positions");
  Options o;
  add_number(app, "--d-model", o.d_model, 1, 4096, "dimensions");
  add_number(app, "--length", o.length, 1, 4096, "positions");
  add_choice(app, "--format", o.format, "what is written");
  app.add_option("--out", o.out, "file to write; without it, standard output");
  return run_program(app, argc, argv, [&] { return run(o); });
}

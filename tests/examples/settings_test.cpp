// Settings files: everything in them is used or refused, naming the line.
#include "examples/common/settings.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "examples/common/program.h"
#include "tests/core/temporary.h"

using namespace gradzoo;
using namespace gradzoo::examples;

namespace {

enum class Shade { light, dark };
constexpr std::array<const char*, 2> choice_names(Shade) { return {"light", "dark"}; }

struct Options {
  CLI::App app{"a program", "program"};
  double lr = 0.1;
  std::int64_t warmup_steps = 7;
  bool norm_first = true, json = false;
  Shade shade = Shade::light;
  std::string out;

  Options() {
    add_number(app, "--lr", lr, 0, 10, "rate");
    add_number(app, "--warmup-steps", warmup_steps, 0, 100, "steps");
    app.add_flag("--norm-first,!--no-norm-first", norm_first, "pre-norm")->default_str("true");
    app.add_flag("--json", json, "as JSON");
    add_choice(app, "--shade", shade, "of the page");
    app.add_option("--out", out, "a folder");
  }

  // Parses the arguments, then applies a file of this text. The error's message; empty: none.
  std::string apply(const std::string& text, std::vector<std::string> arguments = {},
                    const std::set<std::string>& without = {}) {
    const test::TemporaryDirectory folder;
    const std::string path = folder / "run.cfg";
    test::write_bytes(path, text);
    try {
      std::reverse(arguments.begin(), arguments.end());
      app.parse(arguments);
      apply_settings(app, path, without);
    } catch (const Error& error) {
      return std::string(error.what()).substr(folder.path().size() + 1);
    }
    return "";
  }
};

}  // namespace

TEST_CASE("a settings file sets options, and the command line wins") {
  Options o;
  CHECK(o.apply("\xef\xbb\xbf# a comment\r\n\n lr=0.5\r\nwarmup_steps = 3\n\tnorm-first = false\n"
                "json = true\nshade = dark\nout = a folder = b\n",
                {"--lr", "2"}) == "");
  CHECK(o.lr == 2);
  CHECK(o.warmup_steps == 3);
  CHECK(!o.norm_first);
  CHECK(o.json);
  CHECK(o.shade == Shade::dark);
  CHECK(o.out == "a folder = b");
}

TEST_CASE("B17: what is wrong in a settings file is named with its line") {
  const auto fault = [](const std::string& text) { return Options().apply(text); };
  CHECK(fault("lr = 1\nwarm_steps = 3\n")
            .starts_with("run.cfg:2: 'warm-steps' is not known; the nearest: warmup-steps, "));
  CHECK(fault("lr = 1\n\nlr = 1\n") == "run.cfg:3: 'lr' is there twice");
  CHECK(fault("lr = 10x\n") == "run.cfg:1: --lr: '10x' is not a number from 0 to 10");
  CHECK(fault("lr =\n") == "run.cfg:1: --lr: '' is not a number from 0 to 10");
  CHECK(fault("json = maybe\n") == "run.cfg:1: 'maybe' is neither true nor false");
  CHECK(fault("shade = grey\n") == "run.cfg:1: --shade: 'grey' is not one of light, dark");
  CHECK(fault("just text\n") == "run.cfg:1: 'just text' is not 'key = value'");
  CHECK(fault("help = true\n").starts_with("run.cfg:1: 'help' is not known"));
  CHECK(fault("a\xff = 1\n") == "run.cfg:1: byte 2 is not UTF-8");
  CHECK(Options().apply("out = x\n", {}, {"out"}).starts_with("run.cfg:1: 'out' is not known"));
}

TEST_CASE("the settings of a program, written and read, are the same settings") {
  Options o;
  CHECK(o.apply("lr = 0.25\n", {"--no-norm-first", "--shade", "dark"}) == "");
  const std::string text = settings_text(o.app, {"out", "json"});
  CHECK(text == "lr = 0.25\nwarmup-steps = 7\nnorm-first = false\nshade = dark\n");
  Options again;
  CHECK(again.apply(text) == "");
  CHECK(settings_text(again.app, {"out", "json"}) == text);
  CHECK(again.lr == 0.25);
  CHECK(!again.norm_first);
}

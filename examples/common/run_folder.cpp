// The folder of a training run.
#include "examples/common/run_folder.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/error.h"
#include "core/file.h"
#include "examples/common/text.h"

namespace gradzoo::examples {
namespace {

void write_file(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace

RunFolder::RunFolder(std::string path) : path_(std::move(path)) {}

void RunFolder::open_metrics() {
  metrics_.reset(std::fopen(metrics().c_str(), "ae"));
  check(metrics_ != nullptr, "{}: {}", metrics(), std::strerror(errno));
}

RunFolder RunFolder::create(const std::string& path, const std::string& text) {
  check(!path.empty(), "--out: the name of the folder is empty");
  std::error_code error;
  std::filesystem::create_directories(path, error);
  check(!error, "{}: {}", path, error.message());
  check(!std::filesystem::exists(settings(path)),
        "{}: holds a run already; choose another folder, or continue it with train --resume", path);
  RunFolder folder(path);
  write_file(settings(path), text);
  folder.open_metrics();
  return folder;
}

RunFolder RunFolder::reopen(const std::string& path, std::int64_t step) {
  RunFolder folder(path);
  std::string kept;
  if (std::filesystem::exists(folder.metrics()) &&
      std::filesystem::file_size(folder.metrics()) > 0) {
    for (const TextLine& line : read_lines(folder.metrics()).good) {
      // A line that was cut short by the end of the run is dropped too.
      const auto json = nlohmann::json::parse(line.text, nullptr, false);
      if (json.is_object() && json.value("step", step + 1) <= step) kept += line.text + "\n";
    }
  }
  write_file(folder.metrics(), kept);
  folder.open_metrics();
  return folder;
}

void RunFolder::log(const nlohmann::ordered_json& line) {
  const std::string text = line.dump() + "\n";
  const bool written =
      std::fputs(text.c_str(), metrics_.get()) >= 0 && std::fflush(metrics_.get()) == 0;
  check(written, "{}: {}", metrics(), std::strerror(errno));
}

}  // namespace gradzoo::examples

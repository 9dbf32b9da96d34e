// What a training run, or a comparison of several, leaves behind:
//
//     DIR/settings.cfg       the options it was started with
//     DIR/metrics.jsonl      a line of JSON for each ten steps and for each validation
//     DIR/model.safetensors  the best model, for decoding
//     DIR/last.safetensors   everything the run continues with
//     DIR/report.html        curves, results and samples, on a page
//
// A comparison saves no models.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gradzoo::examples {

class RunFolder {
 public:
  /// Makes the folder for a new run. Throws, naming it, when it cannot be written, and when it
  /// holds a run already: nothing is overwritten.
  static RunFolder create(const std::string& path, const std::string& settings);
  /// The folder of a run that continues after `step`: later lines of its metrics are dropped.
  static RunFolder reopen(const std::string& path, std::int64_t step);

  std::string model() const { return model(path_); }
  std::string last() const { return path_ + "/last.safetensors"; }
  std::string metrics() const { return path_ + "/metrics.jsonl"; }
  std::string report() const { return path_ + "/report.html"; }
  static std::string model(const std::string& path) { return path + "/model.safetensors"; }
  static std::string settings(const std::string& path) { return path + "/settings.cfg"; }
  static std::string last(const std::string& path) { return path + "/last.safetensors"; }

  /// Appends a line of JSON with a "step" to the metrics. Throws when it cannot be written.
  void log(const nlohmann::ordered_json& line);

 private:
  explicit RunFolder(std::string path);
  void open_metrics();

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> metrics_;
};

}  // namespace gradzoo::examples

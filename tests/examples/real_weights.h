// Where tests find models trained by others, which are no part of this repository.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace gradzoo::test {

/// The path of a file in the folder of real weights: GRADZOO_WEIGHTS_DIR, or shared/weights in or
/// beside the root of the source. Empty when it is not there: then tests say so, and skip.
inline std::string real_weights(const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path root = GRADZOO_SOURCE_ROOT;
  const char* given = std::getenv("GRADZOO_WEIGHTS_DIR");
  for (const fs::path& folder : given != nullptr ? std::vector<fs::path>{given}
                                                 : std::vector{root / ".." / "shared" / "weights",
                                                               root / "shared" / "weights"}) {
    if (fs::exists(folder / name)) return (folder / name).string();
  }
  return "";
}

}  // namespace gradzoo::test

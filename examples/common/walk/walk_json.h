// A walk as the data of a page.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "examples/common/walk/walk.h"

namespace gradzoo::examples {

/// Everything the page shows; examples/web/step_data.js says what is where. Tensors of at most
/// `most` elements are there whole, to seven digits; of larger ones statistics and a corner. Equal
/// tensors are written once.
nlohmann::ordered_json walk_json(const Walk& walk, std::int64_t most);

}  // namespace gradzoo::examples

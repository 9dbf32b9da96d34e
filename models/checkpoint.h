// Checkpoints of models: a safetensors file with the weights by name and, in its metadata, what is
// needed to make the model again: its name as "model", its config as "config.d_model" and so on.
#pragma once

#include <string>

#include "core/random.h"
#include "core/serialize.h"
#include "nn/config.h"

namespace gradzoo::models {

/// Writes `model` with its name and config, and other metadata beside them, such as a vocabulary.
/// Throws naming path and cause; the file appears whole or not at all.
template <class Model>
void save_model(const std::string& path, const Model& model, nn::Metadata metadata = {}) {
  for (const auto& [key, value] : nn::config_metadata(model.config)) metadata[key] = value;
  metadata["model"] = Model::kName;
  nn::save(path, model, metadata);
}

/// The name of the model in a checkpoint, such as "transformer". Throws when it does not say.
inline std::string model_name(const std::string& path) {
  const nn::Metadata metadata = load_metadata(path);
  const auto found = metadata.find("model");
  check(found != metadata.end(), "{}: the metadata does not say which model this is", path);
  return found->second;
}

/// The model in a checkpoint, made from the config there. Throws, naming the path, when it is
/// another model, when its config is not valid, and when the weights do not fit it.
template <class Model>
Model load_model(const std::string& path) {
  const std::string name = model_name(path);
  check(name == Model::kName, "{}: holds the model '{}', not '{}'", path, name, Model::kName);
  const auto config = nn::config_from<decltype(Model::config)>(load_metadata(path), path);
  const Model model = [&] {
    try {
      Rng rng(0);  // whatever it draws is overwritten
      return Model(config, rng);
    } catch (const Error& error) {
      fail("{}: {}", path, error.what());
    }
  }();
  nn::load(path, model);
  return model;
}

}  // namespace gradzoo::models

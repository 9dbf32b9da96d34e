// Models that were trained elsewhere, in files with other names than ours: a map for each.
#pragma once

#include <optional>
#include <string>

#include "examples/common/zoo.h"

namespace gradzoo::examples {

/// The model in a safetensors file of another program, recognised by the file's metadata; none when
/// it is no file that is known here. Throws, naming the path, when a known one is not complete.
///
/// - minGPT ("config" with n_layer, n_head, n_embd, vocab_size, block_size): a DecoderLM. It has no
///   special ids: the symbols are the words 0, 1, … behind ours, and a source is continued.
/// - Kyubyong/g2p ("graphemes" and "phonemes"): an RNNSeq2Seq that spells and pronounces.
std::optional<ZooCheckpoint> load_foreign(const std::string& path);

}  // namespace gradzoo::examples

// SPDX-License-Identifier: MIT
//
// model.safetensors.index.json: which shard of a model holds which tensor.
#include <map>
#include <utility>

#include "io/file_error.h"
#include "io/json_leaves.h"
#include "io/source.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

constexpr int64_t kMaxIndexBytes = 100'000'000;

using Shards = std::map<std::string, File::Contents>;

const File::Contents& shard_of(Shards& shards, const File::Contents& model, const OpenFile& index,
                               const std::string& name) {
  const auto found = shards.find(name);
  if (found != shards.end()) {
    return found->second;
  }
  File::Contents& shard = shards[name];
  shard.family = model.family;
  const auto file = std::make_shared<OpenFile>(beside(index, name));
  read_safetensors(shard, file);
  return shard;
}

}  // namespace

void read_safetensors_index(File::Contents& contents, const FilePointer& file) {
  if (file->size() > kMaxIndexBytes) {
    refuse_file(file->path(), "index too large",
                cat("it has ", file->size(), " bytes, at most ", kMaxIndexBytes, " are read"),
                "the index that belongs to the model");
  }
  std::vector<std::pair<std::string, std::string>> weights;  // tensor, shard
  parse_json(
      file->path(), file->text(0, file->size()),
      [&](const JsonLeaf& leaf) {
        if (leaf.keys.size() == 2 && leaf.position < 0 && leaf.keys[0] == "metadata") {
          contents.metadata[leaf.keys[1]] = leaf.text ? *leaf.text : cat(leaf.number);
        } else if (leaf.keys.size() == 2 && leaf.position < 0 && leaf.text != nullptr &&
                   leaf.keys[0] == "weight_map") {
          weights.emplace_back(leaf.keys[1], *leaf.text);
        }
      },
      [](const std::vector<std::string>&) {});
  if (weights.empty()) {
    refuse_file(file->path(), "not an index of safetensors", "it has no weight_map",
                "model.safetensors.index.json of the model");
  }
  Shards shards;
  std::map<std::pair<std::string, std::string>, size_t> places;  // of tensors, by shard and name
  for (const auto& [tensor, name] : weights) {
    if (!shards.contains(name)) {
      const File::Contents& shard = shard_of(shards, contents, *file, name);
      for (size_t i = 0; i < shard.tensors.size(); ++i) {
        places[{name, shard.tensors[i].name}] = i;
      }
    }
    const File::Contents& shard = shards.at(name);
    const auto place = places.find({name, tensor});
    if (place == places.end()) {
      refuse_file(file->path(), "tensor missing from its shard",
                  cat("\"", tensor, "\" should be in \"", name, "\""),
                  "index and shards of one version of the model");
    }
    contents.tensors.push_back(shard.tensors[place->second]);
    contents.sources.push_back(shard.sources[place->second]);
  }
}

}  // namespace sheaf::io

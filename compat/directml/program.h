// SPDX-License-Identifier: MIT
//
// What an operator or a graph does: its inputs and outputs, and the work on their memory. Immutable
// once made, and shared by all objects that name it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "directml.h"
#include "frontends/directml/descriptors.h"
#include "moves/moves.h"

namespace sheaf::dml_com {

// One input or output, and what it asks of a binding.
struct Slot {
  std::string name;                                        // "IndicesTensor"
  UINT64 total_bytes = 0;                                  // TotalTensorSizeInBytes
  UINT64 required_bytes = 0;                               // up to the end of the last element
  UINT64 alignment = DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT;  // of a binding's offset
  bool owned = false;                                      // OWNED_BY_DML: bound at initialisation
  bool used = true;              // false: an input of a graph that leads nowhere
  UINT64 persistent_offset = 0;  // of an owned one
};

// What is done about an output that shares memory with an input.
enum class Sharing {
  kRefused,   // it is refused: a later step would read what an earlier one wrote
  kInPlace,   // it is refused, unless both start at the same byte
  kOperator,  // run() refuses it where results would change
};

class Program {
 public:
  virtual ~Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<Slot>& inputs() const { return inputs_; }
  const std::vector<Slot>& outputs() const { return outputs_; }
  UINT64 temporary_bytes() const { return temporary_bytes_; }
  UINT64 persistent_bytes() const { return persistent_bytes_; }
  Sharing sharing() const { return sharing_; }

  // On memory of the queue, the host's or a device's; returns when done. Throws sheaf::Error.
  // `temporary` has temporary_bytes().
  virtual void run(std::span<const void* const> inputs, std::span<void* const> outputs,
                   std::byte* temporary, const Queue& queue) const = 0;

 protected:
  explicit Program(std::string name) : name_(std::move(name)) {}
  void place_owned();  // gives the owned inputs their places in the persistent resource

  std::string name_;
  std::vector<Slot> inputs_, outputs_;
  UINT64 temporary_bytes_ = 0, persistent_bytes_ = 0;
  Sharing sharing_ = Sharing::kRefused;
};

// One operator. Throws sheaf::Error if the descriptor is not sound.
std::shared_ptr<const Program> read_program(const DML_OPERATOR_DESC* desc,
                                            const dml::DeviceOptions& options);

// The same for an operator that is no gather or scatter; null if it is none of those there are.
std::shared_ptr<const Program> read_neighbour(const DML_OPERATOR_DESC& desc,
                                              const dml::DeviceOptions& options);

// A node is an operator or, with `program` null, constant data.
struct GraphNode {
  std::shared_ptr<const Program> program;
  std::vector<std::byte> constant;
};

// A graph of them; `nodes` in the order of desc.Nodes. Throws sheaf::Error if an edge is wrong.
std::shared_ptr<const Program> make_graph(const DML_GRAPH_DESC& desc, std::vector<GraphNode> nodes);

}  // namespace sheaf::dml_com

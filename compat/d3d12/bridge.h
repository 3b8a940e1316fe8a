// SPDX-License-Identifier: MIT
//
// How DirectML's half reaches the memory of a buffer and the commands of a list: through private
// data, under GUIDs that no other Direct3D knows. So an object that is not ours is told apart, and
// never cast.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <vector>

#include "d3d12.h"
#include "moves/moves.h"
#include "sheaf/queue.h"

namespace sheaf::d3d12 {

struct Descriptor {  // of a descriptor heap: only its address is ever used
  std::byte unused[16];
};

struct BufferMemory {
  std::byte* data;  // an address of the device's, if there is one
  UINT64 bytes;
  bool written_by_commands;  // false in an upload heap
  DeviceMemory* on_device;   // null: host memory
  const char* device;        // one of device_names(); "" for host memory
};

// A copy between buffers, which are on the host or on the one device there is. Ranges were checked.
inline void copy_bytes(const BufferMemory& to, UINT64 to_offset, const BufferMemory& from,
                       UINT64 from_offset, UINT64 bytes) {
  const auto count = static_cast<size_t>(bytes);
  const auto to_at = static_cast<size_t>(to_offset), from_at = static_cast<size_t>(from_offset);
  if (to.on_device == nullptr && from.on_device == nullptr) {
    std::memmove(to.data + to_at, from.data + from_at, count);
  } else if (from.on_device == nullptr) {
    to.on_device->upload(from.data + from_at, count, to_at);
  } else if (to.on_device == nullptr) {
    from.on_device->download(to.data + to_at, count, from_at);
  } else if (to.on_device != from.on_device || to_at + count <= from_at ||
             from_at + count <= to_at) {
    const TensorSpec all(u8, {static_cast<int64_t>(bytes)});
    const void* source[] = {from.data + from_at};
    void* target[] = {to.data + to_at};
    moves::copy("CopyBufferRegion", all, all)(source, target, {.device = to.device});
  } else {  // within one buffer, onto itself
    std::vector<std::byte> staging(count);
    from.on_device->download(staging.data(), count, from_at);
    to.on_device->upload(staging.data(), count, to_at);
  }
}

inline constexpr GUID kBufferMemory{
    0x5b0f4e0a, 0x3c1e, 0x4d6b, {0x9a, 0x57, 0x53, 0x48, 0x45, 0x41, 0x46, 0x01}};

// What a queue does when it executes a list. It keeps alive what it works on.
using Command = std::function<void()>;
// Makes a command when its list is submitted; what it works on is known only then. Does not throw.
using LateCommand = std::function<Command()>;

class Recorder {
 public:
  virtual void record(Command command) = 0;
  virtual void record_late(LateCommand command) = 0;
  // The commands of a closed list, one after the other. Empty if the list cannot be executed.
  virtual Command submission() = 0;
  // The list cannot be closed any more: Close reports `result`.
  virtual void refuse(HRESULT result, const char* text) = 0;

 protected:
  ~Recorder() = default;
};
inline constexpr GUID kRecorder{
    0x5b0f4e0a, 0x3c1e, 0x4d6b, {0x9a, 0x57, 0x53, 0x48, 0x45, 0x41, 0x46, 0x02}};

// One of the two above, or all zero if the object is not one of ours.
template <class View, class Object>
View private_view(Object* object, REFGUID guid) {
  View view{};
  UINT size = sizeof view;
  if (object == nullptr || FAILED(object->GetPrivateData(guid, &size, &view))) {
    return {};
  }
  return view;
}

}  // namespace sheaf::d3d12

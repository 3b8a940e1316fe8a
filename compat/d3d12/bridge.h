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

struct BufferMemory {
  std::byte* data;  // an address of the device's, if there is one
  UINT64 bytes;
  bool written_by_commands;  // false in an upload heap
  DeviceMemory* on_device;   // null: host memory
  UINT64 start;              // of the buffer in on_device: what is placed in a heap shares it
  const char* device;        // one of device_names(); "" for host memory

  void upload(const void* from, UINT64 count, UINT64 offset) const {
    on_device->upload(from, static_cast<size_t>(count), static_cast<size_t>(start + offset));
  }
  void download(void* to, UINT64 count, UINT64 offset) const {
    on_device->download(to, static_cast<size_t>(count), static_cast<size_t>(start + offset));
  }
};

// A copy between buffers, on the host or on devices. Ranges were checked.
inline void copy_bytes(const BufferMemory& to, UINT64 to_offset, const BufferMemory& from,
                       UINT64 from_offset, UINT64 bytes) {
  std::byte* target = to.data + to_offset;
  const std::byte* source = from.data + from_offset;
  const bool apart =
      std::less_equal<>()(target + bytes, source) || std::less_equal<>()(source + bytes, target);
  if (to.on_device == nullptr && from.on_device == nullptr) {
    std::memmove(target, source, static_cast<size_t>(bytes));
  } else if (from.on_device == nullptr) {
    to.upload(source, bytes, to_offset);
  } else if (to.on_device == nullptr) {
    from.download(target, bytes, from_offset);
  } else if (to.device == from.device && apart) {
    const TensorSpec all(u8, {static_cast<int64_t>(bytes)});
    const void* sources[] = {source};
    void* targets[] = {target};
    moves::copy("CopyBufferRegion", all, all)(sources, targets, {.device = to.device});
  } else {  // onto itself, or to another device
    std::vector<std::byte> staging(static_cast<size_t>(bytes));
    from.download(staging.data(), bytes, from_offset);
    to.upload(staging.data(), bytes, to_offset);
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

// A device's private data: the backend that its buffers are memory of, as a const Backend*, and
// null for the host's. DirectML's half has a backend of the same name in its own copy of the
// library, but what one has allocated the other may not know.
inline constexpr GUID kBackend{
    0x5b0f4e0a, 0x3c1e, 0x4d6b, {0x9a, 0x57, 0x53, 0x48, 0x45, 0x41, 0x46, 0x06}};

// One of those above, or all zero if the object is not one of ours.
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

// SPDX-License-Identifier: MIT
//
// Queues and fences: the interfaces over timeline.h.
#include <cstdint>
#include <exception>
#include <string>

#include "objects.h"

namespace sheaf::d3d12 {
namespace {

// An error of a device that commands met; no exception may leave COM.
void run_or_remove(const Command& command, Removal& removal) {
  HRESULT reason = S_OK;
  try {
    return command();
  } catch (const std::bad_alloc&) {
    reason = E_OUTOFMEMORY;
  } catch (const std::exception& error) {
    reason = DXGI_ERROR_DRIVER_INTERNAL_ERROR;
    com::report(error.what(), true);
  } catch (...) {
    reason = E_FAIL;
  }
  Timeline::get().remove(removal, reason);
}

}  // namespace

HRESULT Fence::SetEventOnCompletion(UINT64 value, HANDLE event) {
  return com::guarded([&] {
    const auto descriptor = static_cast<int>(reinterpret_cast<intptr_t>(event));
    return event == nullptr ? Timeline::get().wait(*state_, value)
                            : Timeline::get().set_event(state_, value, descriptor);
  });
}

HRESULT Fence::GetPrivateData(REFGUID guid, UINT* size, void* data) {
  return guid == kFence ? give_view(this, size, data) : Child::GetPrivateData(guid, size, data);
}

void CommandQueue::ExecuteCommandLists(UINT count, ID3D12CommandList* const* lists) {
  const HRESULT result = com::guarded([&] {
    for (UINT i = 0; i < count && lists != nullptr && !removal()->removed(); ++i) {
      auto* recorder = private_view<Recorder*>(lists[i], kRecorder);
      Command work = recorder == nullptr ? nullptr : recorder->submission();
      if (!work) {
        com::report(com::words({.who = "ID3D12CommandQueue::ExecuteCommandLists",
                                .what = recorder == nullptr ? "not a command list of this device"
                                                            : "not a list that was closed",
                                .detail = "it was skipped",
                                .given = "list " + std::to_string(i),
                                .next = recorder == nullptr ? "a list that this device created"
                                                            : "a list whose Close returned S_OK"}),
                    true);
        continue;
      }
      Timeline::get().submit(
          *state_,
          {Submission::kWork,
           [work = std::move(work), gone = removal()] { run_or_remove(work, *gone); }, nullptr});
    }
    return S_OK;
  });
  if (FAILED(result)) {
    Timeline::get().remove(*removal(), result);
  }
}

HRESULT CommandQueue::submit(Submission::Kind kind, ID3D12Fence* fence, UINT64 value) {
  if (removal()->removed()) {
    return DXGI_ERROR_DEVICE_REMOVED;
  }
  return com::guarded([&] {
    const auto* ours = private_view<Fence*>(fence, kFence);
    if (ours == nullptr) {
      return E_INVALIDARG;
    }
    Timeline::get().submit(*state_, {kind, nullptr, ours->state(), value});
    return S_OK;
  });
}

HRESULT CommandQueue::Signal(ID3D12Fence* fence, UINT64 value) {
  return submit(Submission::kSignal, fence, value);
}

HRESULT CommandQueue::Wait(ID3D12Fence* fence, UINT64 value) {
  return submit(Submission::kWait, fence, value);
}

HRESULT CommandQueue::GetTimestampFrequency(UINT64* frequency) {
  if (frequency == nullptr) {
    return E_INVALIDARG;
  }
  *frequency = kTicksPerSecond;
  return removal()->check();
}

// Both clocks are the same one.
HRESULT CommandQueue::GetClockCalibration(UINT64* gpu_timestamp, UINT64* cpu_timestamp) {
  if (gpu_timestamp == nullptr || cpu_timestamp == nullptr) {
    return E_INVALIDARG;
  }
  *gpu_timestamp = *cpu_timestamp = clock_ticks();
  return removal()->check();
}

}  // namespace sheaf::d3d12

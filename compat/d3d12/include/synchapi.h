// SPDX-License-Identifier: MIT
//
// The few calls of Win32 that programs wait for a fence with: events. An event is an eventfd, which
// ID3D12Fence::SetEventOnCompletion sets; whoever creates one closes it.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>

#include "sheaf_com.h"

#if SHEAF_OWN_D3D12
struct SECURITY_ATTRIBUTES;
#endif

#ifndef WAIT_OBJECT_0
#define WAIT_OBJECT_0 0u
#define WAIT_ABANDONED 0x80u
#define WAIT_IO_COMPLETION 0xC0u
#define WAIT_TIMEOUT 258u
#define WAIT_FAILED 0xFFFFFFFFu
#define CREATE_EVENT_MANUAL_RESET 1u
#define CREATE_EVENT_INITIAL_SET 2u
#define EVENT_ALL_ACCESS 0x1F0003u
#endif

namespace sheaf_com {

// A handle is the number of the eventfd. This bit above it says that a wait leaves the event set.
constexpr uint64_t kManualReset = uint64_t{1} << 32;

inline int event_descriptor(HANDLE event) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(event) & 0xFFFFFFFF);
}

inline HANDLE create_event(bool manual_reset, bool set) {
  int descriptor = eventfd(set ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor == 0) {  // the number 0 would be a null handle
    descriptor = fcntl(0, F_DUPFD_CLOEXEC, 1);
    close(0);
  }
  if (descriptor < 0) {
    return nullptr;
  }
  return reinterpret_cast<HANDLE>(static_cast<uint64_t>(descriptor) |
                                  (manual_reset ? kManualReset : 0));
}

// Takes the event: of several who wait for one without manual reset, one gets it.
inline bool take_event(HANDLE event) {
  if ((reinterpret_cast<uintptr_t>(event) & kManualReset) != 0) {
    return true;
  }
  uint64_t count = 0;
  return read(event_descriptor(event), &count, sizeof count) == sizeof count;
}

inline DWORD wait_for(HANDLE event, DWORD milliseconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  pollfd asked{event_descriptor(event), POLLIN, 0};
  while (event != nullptr) {
    int left = -1;
    if (milliseconds != INFINITE) {
      const auto rest = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
      left = rest < 0 ? 0 : rest > INT_MAX ? INT_MAX : static_cast<int>(rest);
    }
    const int ready = poll(&asked, 1, left);
    if (ready < 0 && errno != EINTR) {
      break;
    }
    if (ready > 0 && (asked.revents & POLLIN) == 0) {
      break;  // not an event
    }
    if (ready > 0 && take_event(event)) {
      return WAIT_OBJECT_0;
    }
    if (milliseconds != INFINITE && Clock::now() >= end) {
      return WAIT_TIMEOUT;
    }
  }
  return WAIT_FAILED;
}

}  // namespace sheaf_com

// Names are not looked at: an event belongs to its process. Null if there is none left.
inline HANDLE CreateEventA(SECURITY_ATTRIBUTES*, BOOL manual_reset, BOOL set, LPCSTR) {
  return sheaf_com::create_event(manual_reset != 0, set != 0);
}
inline HANDLE CreateEventW(SECURITY_ATTRIBUTES*, BOOL manual_reset, BOOL set, LPCWSTR) {
  return sheaf_com::create_event(manual_reset != 0, set != 0);
}
inline HANDLE CreateEventExA(SECURITY_ATTRIBUTES*, LPCSTR, DWORD flags, DWORD) {
  return sheaf_com::create_event((flags & CREATE_EVENT_MANUAL_RESET) != 0,
                                 (flags & CREATE_EVENT_INITIAL_SET) != 0);
}
inline HANDLE CreateEventExW(SECURITY_ATTRIBUTES*, LPCWSTR, DWORD flags, DWORD) {
  return CreateEventExA(nullptr, nullptr, flags, 0);
}
#ifndef CreateEvent
#define CreateEvent CreateEventA
#define CreateEventEx CreateEventExA
#endif

inline BOOL SetEvent(HANDLE event) {
  const uint64_t one = 1;
  return event != nullptr &&
         write(sheaf_com::event_descriptor(event), &one, sizeof one) == sizeof one;
}

inline BOOL ResetEvent(HANDLE event) {
  uint64_t count = 0;
  return event != nullptr &&
         (read(sheaf_com::event_descriptor(event), &count, sizeof count) == sizeof count ||
          errno == EAGAIN);
}

// WAIT_OBJECT_0, WAIT_TIMEOUT, or WAIT_FAILED for what is no event.
inline DWORD WaitForSingleObject(HANDLE event, DWORD milliseconds) {
  return sheaf_com::wait_for(event, milliseconds);
}
inline DWORD WaitForSingleObjectEx(HANDLE event, DWORD milliseconds, BOOL) {
  return sheaf_com::wait_for(event, milliseconds);
}

inline BOOL CloseHandle(HANDLE event) {
  return event != nullptr && close(sheaf_com::event_descriptor(event)) == 0;
}

// SPDX-License-Identifier: MIT
#include "execution/registry.h"

#include <algorithm>
#include <array>

#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf {

// One line per backend, fastest first. A folder that is not built has a stub that returns null.
#define SHEAF_BACKENDS(backend) backend(cuda) backend(cpu) backend(reference)

#define SHEAF_DECLARE(name) const Backend* name##_backend();
SHEAF_BACKENDS(SHEAF_DECLARE)

namespace {

class List {
 public:
  std::span<const Backend* const> all() const { return {backends_.data(), size_}; }
  void push_back(const Backend* backend) { backends_.at(size_++) = backend; }
  void push_front(const Backend* backend) {
    push_back(backend);
    std::rotate(backends_.begin(), backends_.begin() + size_ - 1, backends_.begin() + size_);
  }

 private:
  std::array<const Backend*, 16> backends_{};
  size_t size_ = 0;
};

struct Registry {
  List host, device;

  Registry() {
#define SHEAF_ADD(name) add(name##_backend());
    SHEAF_BACKENDS(SHEAF_ADD)
  }
  List& list_of(const Backend& backend) { return backend.device != nullptr ? device : host; }

 private:
  void add(const Backend* backend) {
    if (backend != nullptr) {
      list_of(*backend).push_back(backend);
    }
  }
};

Registry& registry() {
  static Registry all;
  return all;
}

}  // namespace

std::span<const Backend* const> host_backends() { return registry().host.all(); }
std::span<const Backend* const> device_backends() { return registry().device.all(); }

const Backend& device_backend(std::string_view name) {
  for (const Backend* backend : device_backends()) {
    if (backend->name == name) {
      return *backend;
    }
  }
  throw Error(Refusal{.code = ErrorCode::kUnsupported,
                      .cause = {Reason::kKernel},
                      .who = std::string(name),
                      .what = "not built",
                      .detail = cat("this build of Sheaf has no device called \"", name, "\""),
                      .next = "sheaf doctor, which lists devices and what each of them needs"});
}

const Backend* device_of_dlpack(int dlpack_type) {
  for (const Backend* backend : device_backends()) {
    if (backend->device->dlpack_type == dlpack_type) {
      return backend;
    }
  }
  return nullptr;
}

void add_backend(const Backend& backend) { registry().list_of(backend).push_front(&backend); }

}  // namespace sheaf

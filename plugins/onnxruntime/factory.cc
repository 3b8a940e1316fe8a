// SPDX-License-Identifier: MIT
//
// What the runtime looks for in the library: CreateEpFactories and ReleaseEpFactory.
#include <memory>

#include "api.h"
#include "provider.h"
#include "sheaf/version.h"

namespace sheaf::ort {
namespace {

class Factory final : public EpFactory {
 public:
  explicit Factory(const ApiBase& base) : api_(base) {
    get_name = [](const EpFactory*) noexcept { return kProviderName; };
    get_vendor = [](const EpFactory*) noexcept { return "Sheaf"; };
    get_version = [](const EpFactory*) noexcept { return SHEAF_VERSION; };
    get_vendor_id = [](const EpFactory*) noexcept { return uint32_t{0}; };  // no PCI vendor
    // All memory is the host's: there is nothing to copy to or from a device.
    create_data_transfer = [](EpFactory*, DataTransfer** transfer) noexcept -> Status* {
      *transfer = nullptr;
      return nullptr;
    };
    is_stream_aware = [](const EpFactory*) noexcept { return false; };
    get_supported_devices = [](EpFactory* factory, const HardwareDevice* const* devices,
                               size_t count, EpDevice** found, size_t most,
                               size_t* found_count) noexcept {
      const Api& api = static_cast<Factory*>(factory)->api_;
      return guarded(api, [&] {
        *found_count = 0;
        for (size_t i = 0; i < count && *found_count < most; ++i) {
          if (api(kHardwareDeviceType, devices[i]) == kCpuDevice) {
            api.check(kCreateEpDevice, factory, devices[i], nullptr, nullptr, &found[*found_count]);
            ++*found_count;
          }
        }
      });
    };
    create_ep = [](EpFactory* factory, const HardwareDevice* const*, const KeyValuePairs* const*,
                   size_t, const SessionOptions*, const Logger*, Ep** ep) noexcept {
      const Api& api = static_cast<Factory*>(factory)->api_;
      return guarded(api, [&] { *ep = std::make_unique<SheafEp>(api).release(); });
    };
    release_ep = [](EpFactory*, Ep* ep) noexcept { delete static_cast<SheafEp*>(ep); };
  }

  const Api& api() const { return api_; }

 private:
  Api api_;
};

}  // namespace
}  // namespace sheaf::ort

extern "C" {

[[gnu::visibility("default")]] sheaf::ort::Status* CreateEpFactories(
    const char* registration_name, const sheaf::ort::ApiBase* base,
    const sheaf::ort::Logger* logger, sheaf::ort::EpFactory** factories, size_t most,
    size_t* count) noexcept;
[[gnu::visibility("default")]] sheaf::ort::Status* ReleaseEpFactory(
    sheaf::ort::EpFactory* factory) noexcept;

sheaf::ort::Status* CreateEpFactories(const char* /*registration_name*/,
                                      const sheaf::ort::ApiBase* base,
                                      const sheaf::ort::Logger* /*logger*/,
                                      sheaf::ort::EpFactory** factories, size_t most,
                                      size_t* count) noexcept {
  *count = 0;
  try {
    auto factory = std::make_unique<sheaf::ort::Factory>(*base);
    if (most > 0) {
      factories[0] = factory.release();
      *count = 1;
    }
    return nullptr;
  } catch (const sheaf::ort::Failure& failure) {
    return sheaf::ort::refusal_status(*base, failure.what());
  } catch (...) {
    return sheaf::ort::refusal_status(*base, "Sheaf: out of memory");
  }
}

sheaf::ort::Status* ReleaseEpFactory(sheaf::ort::EpFactory* factory) noexcept {
  delete static_cast<sheaf::ort::Factory*>(factory);
  return nullptr;
}

}  // extern "C"

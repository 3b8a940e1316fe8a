// SPDX-License-Identifier: MIT
#include "lane.h"

#include <utility>

#include "call.h"
#include "errors.h"
#include "support/text.h"

namespace sheaf::python {
namespace {

bool elsewhere(const Lane& lane, const DLDevice& device) {
  return !is_gpu(device) || device.device_id != lane.device;
}

}  // namespace

bool is_gpu(const DLDevice& device) {
  return device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged;
}

bool is_host(const DLDevice& device) {
  return device.device_type == kDLCPU || device.device_type == kDLCUDAHost;
}

std::string text_of(const DLDevice& device) {
  return is_gpu(device)    ? cat("cuda:", device.device_id)
         : is_host(device) ? "the CPU"
                           : cat("DLPack device type ", static_cast<int32_t>(device.device_type));
}

bool Lane::admit(nb::handle object, const DLDevice& of_object) {
  const Library its_library = array_type_of(object).library;
  if (on_gpu) {
    waits = waits || its_library != library;
    return of_object.device_id == device;
  }
  const LibraryStream current = current_stream(object, of_object.device_id);
  on_gpu = true;
  device = of_object.device_id;
  library = its_library;
  leader = nb::borrow(object);
  stream = static_cast<cuda::Stream>(current.stream);
  stream_owner = current.owner;
  waits = library == Library::kOther;
  return true;
}

nb::object dlpack_stream(const Lane* lane, Library library) {
  if (lane == nullptr) {
    return library == Library::kOther ? nb::none() : nb::object(nb::int_(-1));
  }
  constexpr uintptr_t kDefault = 1;  // DLPack's number for it: 0 would be ambiguous
  const auto stream = reinterpret_cast<uintptr_t>(lane->stream);
  return nb::int_(stream == 0 ? kDefault : stream);
}

void refuse_other_devices(std::string_view call, const Arrays& arrays) {
  if (!arrays.lane.on_gpu) {
    return;
  }
  const std::pair<const char*, const View&> all[] = {{"data", arrays.data},
                                                     {"indices", arrays.indices},
                                                     {"updates", arrays.updates},
                                                     {"out", arrays.out}};
  std::string places;
  const char* other = nullptr;
  for (const auto& [name, view] : all) {
    if (view.object.is_valid()) {  // else it was not passed
      places += cat(places.empty() ? "" : ", ", name, " is on ", text_of(view.device));
      other = other == nullptr && elsewhere(arrays.lane, view.device) ? name : other;
    }
  }
  if (other != nullptr) {
    raise_argument(refusal_text(cat(call, ": arrays on different devices"), places,
                                cat(other, " moved to cuda:", arrays.lane.device,
                                    "; nothing is copied between devices in silence")));
  }
}

}  // namespace sheaf::python

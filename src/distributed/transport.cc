// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "distributed/group.h"
#include "distributed/window.h"
#include "sheaf/sharded.h"

namespace sheaf::sharded {
namespace {

// An exchange that was over when it started.
class Done final : public Transport::Pending {
 public:
  explicit Done(int64_t arrived) : arrived_(arrived) {}
  int64_t wait() override { return arrived_; }

 private:
  int64_t arrived_;
};

}  // namespace

Transport::~Transport() = default;

void Transport::largest(std::span<int64_t> values) {
  const auto count = static_cast<size_t>(ranks());
  const auto bytes = static_cast<int64_t>(values.size_bytes());
  std::vector<int64_t> received(count * values.size());
  std::vector<Outgoing> to(count, {values.data(), bytes});
  std::vector<Incoming> from(count);
  for (size_t r = 0; r < count; ++r) {
    from[r] = {received.data() + r * values.size(), bytes};
  }
  const auto own = static_cast<size_t>(rank());
  to[own].bytes = from[own].bytes = 0;
  std::copy(values.begin(), values.end(), static_cast<int64_t*>(from[own].data));
  if (count > 1) {
    distributed::check_arrived(exchange(to, from), bytes * (ranks() - 1));
  }
  for (size_t i = 0; i < received.size(); ++i) {
    int64_t& value = values[i % values.size()];
    value = std::max(value, received[i]);
  }
}

std::unique_ptr<Transport::Pending> Transport::start(std::span<const Outgoing> to,
                                                     std::span<const Incoming> from, int64_t) {
  return std::make_unique<Done>(exchange(to, from));
}

std::unique_ptr<distributed::Window> Transport::share(int64_t, int64_t) { return nullptr; }

CallbackTransport::CallbackTransport(int rank, int ranks, Exchange exchange,
                                     std::function<void()> stop)
    : rank_(rank), ranks_(ranks), exchange_(std::move(exchange)), stop_(std::move(stop)) {}

int64_t CallbackTransport::exchange(std::span<const Outgoing> to, std::span<const Incoming> from) {
  return exchange_(to, from);
}

void CallbackTransport::abort() noexcept {
  try {
    if (stop_) {
      stop_();
    }
  } catch (...) {  // the failed exchange is what the caller hears of
  }
}

}  // namespace sheaf::sharded

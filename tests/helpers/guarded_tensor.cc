// SPDX-License-Identifier: MIT
#include "helpers/guarded_tensor.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "helpers/oracle.h"
#include "helpers/problem_plan.h"
#include "helpers/random_problem.h"

char running[4096] = "";

namespace {

struct sigaction action_before;

void tell(int signal) {
  if (write(STDERR_FILENO, running, std::strlen(running)) >= 0) {
    sigaction(signal, &action_before, nullptr);  // the access happens again, now without us
  }
}

}  // namespace

void tell_on_crash() {
  struct sigaction action = {};
  action.sa_handler = tell;
  sigaction(SIGSEGV, &action, &action_before);
}

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

bool place(Rng& rng, const GuardedMemory& arena, const sheaf::TensorSpec& spec, Placed& placed) {
  int64_t low = 0;
  int64_t high = 0;
  if (oracle::element_count(as_vector(spec.sizes)) > 0) {
    for (int d = 0; d < spec.rank(); ++d) {
      if (spec.sizes[d] > 1) {
        (spec.strides[d] < 0 ? low : high) += (spec.sizes[d] - 1) * spec.strides[d];
      }
    }
    high += 1;
  }
  const auto bytes = static_cast<size_t>((high - low) * spec.dtype.bytes());
  const auto slack = static_cast<size_t>(rng.pick<int64_t>({0, 0, 0, 1, 3}));
  if (bytes + slack > arena.all().size()) {
    return false;
  }
  const Flush flush = rng.one_in(2) ? Flush::kFront : Flush::kBack;
  const auto part = arena.part(bytes + slack, flush);
  placed = {spec, flush == Flush::kFront ? part.subspan(slack) : part.first(bytes), nullptr};
  placed.first = placed.memory.data() - low * spec.dtype.bytes();
  return true;
}

std::byte* Placed::element(int64_t number) const {
  const auto point = oracle::point_of(number, as_vector(spec.sizes));
  return first + offset_of(point, spec.strides) * spec.dtype.bytes();
}

std::span<std::byte> Placed::watched(const GuardedMemory& arena) const {
  const auto all = arena.all();
  const auto from = static_cast<size_t>(memory.data() - all.data());
  const size_t begin = from - std::min<size_t>(from, 128);
  const size_t end = std::min(all.size(), from + memory.size() + 128);
  return all.subspan(begin, end - begin);
}

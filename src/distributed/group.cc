// SPDX-License-Identifier: MIT
#include "distributed/group.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>

#include "distributed/refusal_bytes.h"
#include "support/text.h"

namespace sheaf::distributed {
namespace {

constexpr int64_t kWholeMessage = int64_t{1} << 30;
constexpr int64_t kLongestError = int64_t{1} << 20;  // bytes

[[noreturn]] void throw_transport(const char* what, const std::string& detail, const char* next) {
  throw Error(Refusal{.code = ErrorCode::kDevice,
                      .who = "transport",
                      .what = what,
                      .detail = detail,
                      .next = next});
}

[[noreturn]] void throw_disagreement(std::string_view who, const std::string& what) {
  Refusal refusal;
  refusal.cause = {Reason::kPlan};
  refusal.who = who;
  refusal.what = "ranks disagree";
  refusal.detail = "operator, whole tensor, split or options differ between ranks";
  refusal.given = what;
  refusal.next = "the same call on every rank; only indices, updates and output are its own";
  throw Error(std::move(refusal));
}

void check_transport(const sharded::Transport* transport) {
  const auto refuse = [](const std::string& detail) {
    throw Error(Refusal{.cause = {Reason::kNull},
                        .who = "transport",
                        .what = "not a group of ranks",
                        .detail = detail,
                        .next = "a rank from 0 to ranks - 1"});
  };
  if (transport == nullptr) {
    refuse("the transport is null");
  } else if (transport->rank() < 0 || transport->rank() >= transport->ranks()) {
    refuse(cat("rank ", transport->rank(), " of ", transport->ranks()));
  }
}

}  // namespace

int local_ranks() {
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "LOCAL_WORLD_SIZE" /* torchrun */}) {
    if (const char* value = std::getenv(name)) {
      return std::max(std::atoi(value), 1);
    }
  }
  return 1;
}

int cores() {
  static const auto count = static_cast<int>(std::thread::hardware_concurrency());  // reads a file
  return count;
}

int threads_per_rank() { return std::max(cores() / local_ranks(), 1); }

void check_arrived(int64_t arrived, int64_t expected) {
  if (arrived != expected) {
    throw_transport("damaged message",
                    cat("an exchange brought ", arrived, " bytes, but ", expected, " were sent"),
                    "a transport that delivers every byte");
  }
}

Group::Group(std::shared_ptr<sharded::Transport> transport) : transport_(std::move(transport)) {
  check_transport(transport_.get());
  rank_ = transport_->rank();
  ranks_ = transport_->ranks();
}

Group::Group(const Group& parent)
    : transport_(parent.transport_), rank_(parent.rank_), ranks_(parent.ranks_) {
  auto own = parent.with_transport([](sharded::Transport& t) { return t.duplicate(); });
  if (own != nullptr) {
    transport_ = std::move(own);
  } else {
    left_ = parent.left_;
  }
}

void Group::throw_if_left() const {
  if (*left_) {
    throw_transport("group left", cat("rank ", rank_, " left it after an exchange that failed"),
                    "a new group, and a new sharded tensor over it");
  }
}

void Group::leave() const {
  if (!std::exchange(*left_, true)) {
    transport_->abort();
  }
}

void Group::refuse_message(const std::string& detail) const {
  leave();
  throw_transport("damaged message", detail, "a transport that delivers what was sent");
}

void Group::together(std::string_view who, const std::function<void()>& work) const {
  std::exception_ptr mine;
  try {
    work();
  } catch (...) {
    mine = std::current_exception();
  }
  const int64_t failed = -largest(mine ? -rank_ : -ranks_);
  if (failed < 0 || failed > ranks_ || (mine && failed > rank_)) {
    refuse_message(cat("the lowest rank that failed cannot be ", failed));
  }
  if (failed < ranks_) {
    throw_from(static_cast<int>(failed), mine, who);
  }
}

// The text is made on rank `rank` and thrown everywhere.
void Group::throw_from(int rank, const std::exception_ptr& mine, std::string_view who) const {
  std::string bytes;
  if (rank == rank_) {
    if (!mine) {
      refuse_message("an error of this rank, which has none");
    }
    bytes = bytes_of(mine, who, rank);
    bytes.resize(std::min(bytes.size(), size(kLongestError)));
  }
  int64_t length = std::ssize(bytes);
  Messages messages(*this, kWholeMessage);
  const auto broadcast = [&](void* data, int64_t count) {
    for (int other = 0; rank == rank_ && other < ranks_; ++other) {
      messages.send(other, data, count);
    }
    messages.receive(rank, data, count);
    messages.start();
    messages.wait();
  };
  broadcast(&length, sizeof length);
  if (length < 0 || length > kLongestError) {
    refuse_message(cat("an error of ", length, " bytes"));
  }
  bytes.resize(size(length));
  broadcast(bytes.data(), length);
  throw_bytes(bytes);
}

int64_t Group::same_everywhere(std::string_view who, const std::string& what, int64_t value) const {
  const auto hash = static_cast<int64_t>(std::hash<std::string>()(what) >> 1);
  int64_t values[] = {hash, -hash, value};
  agree(values);
  if (values[0] != -values[1]) {
    together(who, [&] { throw_disagreement(who, what); });
  }
  return values[2];
}

int64_t Group::largest(int64_t value) const {
  agree(std::span(&value, 1));
  return value;
}

// A rank that got another answer than the others would wait for messages that are never sent. So
// each agreement also compares a hash of the answers before it.
void Group::agree(std::span<int64_t> values) const {
  std::vector<int64_t> asked(values.begin(), values.end());
  asked.insert(asked.end(), {agreed_, -agreed_});
  with_transport([&](sharded::Transport& t) { t.largest(asked); });
  if (asked[values.size()] != -asked[values.size() + 1]) {
    refuse_message("ranks have agreed on different values");
  }
  std::copy_n(asked.begin(), values.size(), values.begin());
  for (const int64_t value : values) {
    constexpr uint64_t kOdd = 0x9e3779b97f4a7c15U;
    agreed_ = static_cast<int64_t>(
        ((static_cast<uint64_t>(agreed_) ^ static_cast<uint64_t>(value)) * kOdd) >> 2);
  }
}

int64_t Group::exchange_counts(const std::vector<int64_t>& to, std::vector<int64_t>& from,
                               int64_t most) const {
  struct Counts {
    int64_t count, largest;
  };
  const int64_t mine = *std::max_element(to.begin(), to.end());
  std::vector<Counts> sent(to.size()), received(to.size());
  Messages messages(*this, kWholeMessage);
  for (int rank = 0; rank < ranks_; ++rank) {
    sent[size(rank)] = received[size(rank)] = {to[size(rank)], mine};
    messages.send(rank, &sent[size(rank)], sizeof(Counts));
    messages.receive(rank, &received[size(rank)], sizeof(Counts));
  }
  messages.start();
  messages.wait();
  int64_t largest = mine;
  for (int rank = 0; rank < ranks_; ++rank) {
    const Counts& counts = received[size(rank)];
    if (counts.count < 0 || counts.count > counts.largest || counts.largest > most) {
      refuse_message(cat("rank ", rank, " announces ", counts.count, " rows, of at most ", most));
    }
    from[size(rank)] = counts.count;
    largest = std::max(largest, counts.largest);
  }
  return largest;
}

Messages::Messages(const Group& group, int64_t message_bytes)
    : group_(group),
      message_bytes_(message_bytes),
      to_(size(group.ranks())),
      from_(size(group.ranks())) {}

void Messages::send(int to, const void* data, int64_t bytes) {
  if (to != group_.rank()) {
    to_[size(to)] = {data, bytes};
  }
}

void Messages::receive(int from, void* data, int64_t bytes) {
  if (from != group_.rank()) {
    from_[size(from)] = {data, bytes};
    expected_ += bytes;
  }
}

void Messages::start() {
  if (group_.ranks() > 1) {
    pending_ = group_.with_transport(
        [&](sharded::Transport& t) { return t.start(to_, from_, message_bytes_); });
  }
}

void Messages::wait() {
  if (pending_ != nullptr) {
    group_.with_transport([&](sharded::Transport&) { check_arrived(pending_->wait(), expected_); });
  }
  pending_.reset();
  expected_ = 0;
  std::fill(to_.begin(), to_.end(), sharded::Transport::Outgoing{});
  std::fill(from_.begin(), from_.end(), sharded::Transport::Incoming{});
}

}  // namespace sheaf::distributed

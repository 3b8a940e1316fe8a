// SPDX-License-Identifier: MIT
#include "distributed/communicator.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>

#include "distributed/refusal_bytes.h"
#include "support/text.h"

namespace sheaf::distributed {
namespace {

[[noreturn]] void throw_mpi(const char* what, const std::string& detail) {
  throw Error(Refusal{.code = ErrorCode::kDevice,
                      .who = "mpi",
                      .what = what,
                      .detail = detail,
                      .next = "the messages of the launcher; a rank may be gone"});
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

// Ranks on this machine, as far as the launcher says.
int local_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
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

}  // namespace

int threads_per_rank() { return std::max(cores() / local_ranks(), 1); }

Communicator::Communicator(MPI_Comm comm) : crowded_(local_ranks() > cores()) {
  int ready = 0;
  MPI_Initialized(&ready);
  if (ready == 0 || comm == MPI_COMM_NULL) {
    throw Error(Refusal{.cause = {Reason::kNull},
                        .who = "mpi",
                        .what = "no communicator",
                        .detail = ready == 0 ? "MPI is not initialised" : "comm is MPI_COMM_NULL",
                        .next = "MPI_Init first, and a communicator that this rank is part of"});
  }
  duplicate(comm);
}

Communicator::Communicator(const Communicator& parent) : crowded_(parent.crowded_) {
  duplicate(parent.comm_);
}

void Communicator::duplicate(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Comm_idup(comm, &comm_, &request), "MPI_Comm_idup");
  wait(&request, 1);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
}

Communicator::~Communicator() {
  int over = 0;
  MPI_Finalized(&over);
  if (over == 0 && !broken_ && comm_ != MPI_COMM_NULL) {
    MPI_Comm_free(&comm_);
  }
}

void Communicator::check(int code, const char* what) const {
  if (code != MPI_SUCCESS) {
    broken_ = true;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw_mpi("communication failed", cat(what, " on rank ", rank_, ": ", text));
  }
}

// Where ranks outnumber cores, the rank that is waited for may be the one that does not get to run:
// MPI's own waits keep the core busy for a whole time slice. Then this one sleeps. Elsewhere it
// must not: messages move while MPI is called.
void Communicator::wait(MPI_Request* requests, int64_t count) const {
  constexpr int kPolls = 64;
  constexpr int64_t kMostRequests = 1 << 12;  // of one call, which counts in int
  for (; count > kMostRequests; count -= kMostRequests, requests += kMostRequests) {
    wait(requests, kMostRequests);
  }
  int done = 0;
  for (int64_t polls = 0; done == 0; ++polls) {
    check(MPI_Testall(static_cast<int>(count), requests, &done, MPI_STATUSES_IGNORE),
          "MPI_Testall");
    if (done == 0 && crowded_ && polls >= kPolls) {
      std::this_thread::sleep_for(std::chrono::microseconds(1));
    }
  }
}

void Communicator::poll(int64_t polls) const {
  constexpr int kPollsPerProbe = 64, kPollsBeforeYield = 1024;
  if (polls % kPollsPerProbe != kPollsPerProbe - 1) {
    return;
  }
  int found = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
  if (crowded_ || polls >= kPollsBeforeYield) {
    std::this_thread::yield();
  }
}

void Communicator::together(std::string_view who, const std::function<void()>& work) const {
  std::exception_ptr mine;
  try {
    work();
  } catch (...) {
    mine = std::current_exception();
  }
  int failed = mine ? rank_ : ranks_;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, comm_, &request),
        "MPI_Iallreduce");
  wait(&request, 1);
  if (failed < ranks_) {
    throw_from(failed, mine, who);
  }
}

// The text is made on rank `rank` and thrown everywhere.
void Communicator::throw_from(int rank, const std::exception_ptr& mine,
                              std::string_view who) const {
  std::string bytes;
  if (rank == rank_) {
    bytes = bytes_of(mine, who, rank);
  }
  int64_t length = std::ssize(bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibcast(&length, 1, MPI_INT64_T, rank, comm_, &request), "MPI_Ibcast");
  wait(&request, 1);
  bytes.resize(static_cast<size_t>(length));
  check(MPI_Ibcast(bytes.data(), static_cast<int>(length), MPI_BYTE, rank, comm_, &request),
        "MPI_Ibcast");
  wait(&request, 1);
  throw_bytes(bytes);
}

void Communicator::same_everywhere(std::string_view who, const std::string& what) const {
  const auto hash = static_cast<int64_t>(std::hash<std::string>()(what) >> 1);
  const int64_t high = largest(hash), low = -largest(-hash);
  together(who, [&] {
    if (high != low) {
      throw_disagreement(who, what);
    }
  });
}

int64_t Communicator::largest(int64_t value) const {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MAX, comm_, &request),
        "MPI_Iallreduce");
  wait(&request, 1);
  return value;
}

void Communicator::exchange(const std::vector<int64_t>& to, std::vector<int64_t>& from) const {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ialltoall(to.data(), 1, MPI_INT64_T, from.data(), 1, MPI_INT64_T, comm_, &request),
        "MPI_Ialltoall");
  wait(&request, 1);
}

void Messages::send(int to, const void* bytes, int64_t count, int tag) {
  const auto* at = static_cast<const std::byte*>(bytes);
  for (int64_t done = 0; done < count; done += piece_bytes_) {
    const int64_t piece = std::min(piece_bytes_, count - done);
    comm_.check(MPI_Isend(at + done, static_cast<int>(piece), MPI_BYTE, to, tag, comm_.get(),
                          &requests_.emplace_back(MPI_REQUEST_NULL)),
                "MPI_Isend");
  }
}

void Messages::receive(int from, void* bytes, int64_t count, int tag) {
  auto* at = static_cast<std::byte*>(bytes);
  for (int64_t done = 0; done < count; done += piece_bytes_) {
    const int64_t piece = std::min(piece_bytes_, count - done);
    comm_.check(MPI_Irecv(at + done, static_cast<int>(piece), MPI_BYTE, from, tag, comm_.get(),
                          &requests_.emplace_back(MPI_REQUEST_NULL)),
                "MPI_Irecv");
  }
}

void Messages::wait() {
  comm_.wait(requests_.data(), std::ssize(requests_));
  requests_.clear();
}

}  // namespace sheaf::distributed

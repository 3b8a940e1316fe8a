// SPDX-License-Identifier: MIT
#include "distributed/mpi_transport.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "distributed/group.h"
#include "sheaf/mpi.h"
#include "support/text.h"

namespace sheaf::distributed {
namespace {

constexpr int kTag = 1;

class MpiPending final : public sharded::Transport::Pending {
 public:
  MpiPending(const MpiTransport& transport, int64_t bytes) : transport_(transport), bytes_(bytes) {}
  // MPI itself complains about a message that is too long; all of ours are as long as was said.
  int64_t wait() override {
    transport_.wait(requests.data(), std::ssize(requests));
    return bytes_;
  }

  std::vector<MPI_Request> requests;

 private:
  const MpiTransport& transport_;
  int64_t bytes_;
};

}  // namespace

MpiTransport::MpiTransport(MPI_Comm comm) : crowded_(local_ranks() > cores()) {
  int ready = 0;
  MPI_Initialized(&ready);
  if (ready == 0 || comm == MPI_COMM_NULL) {
    throw Error(Refusal{.cause = {Reason::kNull},
                        .who = "mpi",
                        .what = "no communicator",
                        .detail = ready == 0 ? "MPI is not initialised" : "comm is MPI_COMM_NULL",
                        .next = "MPI_Init first, and a communicator that this rank is part of"});
  }
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Comm_idup(comm, &comm_, &request), "MPI_Comm_idup");
  wait(&request, 1);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
}

MpiTransport::~MpiTransport() {
  int over = 0;
  MPI_Finalized(&over);
  if (over == 0 && !broken_ && comm_ != MPI_COMM_NULL) {
    MPI_Comm_free(&comm_);
  }
}

std::shared_ptr<sharded::Transport> MpiTransport::duplicate() {
  return std::make_shared<MpiTransport>(comm_);
}

bool MpiTransport::works_in_threads() const {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

void MpiTransport::check(int code, const char* what) const {
  if (code != MPI_SUCCESS) {
    broken_ = true;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw Error(Refusal{.code = ErrorCode::kDevice,
                        .who = "mpi",
                        .what = "communication failed",
                        .detail = cat(what, " on rank ", rank_, ": ", text),
                        .next = "the messages of the launcher; a rank may be gone"});
  }
}

// Where ranks outnumber cores, the rank that is waited for may be the one that does not get to run:
// MPI's own waits keep the core busy for a whole time slice. Then this one sleeps. Elsewhere it
// must not: messages move while MPI is called.
void MpiTransport::wait(MPI_Request* requests, int64_t count) const {
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

void MpiTransport::poll(int64_t polls) const {
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

void MpiTransport::largest(std::span<int64_t> values) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T,
                       MPI_MAX, comm_, &request),
        "MPI_Iallreduce");
  wait(&request, 1);
}

int64_t MpiTransport::largest(int64_t value) {
  largest(std::span(&value, 1));
  return value;
}

int64_t MpiTransport::exchange(std::span<const Outgoing> to, std::span<const Incoming> from) {
  return start(to, from, int64_t{1} << 30)->wait();
}

// Exchanges start in the same order on all ranks, and messages between two ranks keep their order:
// one tag is enough for several exchanges under way.
std::unique_ptr<sharded::Transport::Pending> MpiTransport::start(std::span<const Outgoing> to,
                                                                 std::span<const Incoming> from,
                                                                 int64_t message_bytes) {
  int64_t arriving = 0;
  for (const Incoming& message : from) {
    arriving += message.bytes;
  }
  auto pending = std::make_unique<MpiPending>(*this, arriving);
  const auto in_pieces = [&](int64_t bytes, const auto& post, const char* what) {
    for (int64_t done = 0; done < bytes; done += message_bytes) {
      const auto piece = static_cast<int>(std::min(message_bytes, bytes - done));
      check(post(done, piece, &pending->requests.emplace_back(MPI_REQUEST_NULL)), what);
    }
  };
  for (int rank = 0; rank < ranks_; ++rank) {
    const Incoming& in = from[size(rank)];
    const Outgoing& out = to[size(rank)];
    in_pieces(
        in.bytes,
        [&](int64_t at, int bytes, MPI_Request* request) {
          return MPI_Irecv(static_cast<std::byte*>(in.data) + at, bytes, MPI_BYTE, rank, kTag,
                           comm_, request);
        },
        "MPI_Irecv");
    in_pieces(
        out.bytes,
        [&](int64_t at, int bytes, MPI_Request* request) {
          return MPI_Isend(static_cast<const std::byte*>(out.data) + at, bytes, MPI_BYTE, rank,
                           kTag, comm_, request);
        },
        "MPI_Isend");
  }
  return pending;
}

}  // namespace sheaf::distributed

namespace sheaf::mpi {

std::shared_ptr<sharded::Transport> transport(MPI_Comm comm) {
  return std::make_shared<distributed::MpiTransport>(comm);
}

}  // namespace sheaf::mpi

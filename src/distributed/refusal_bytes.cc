// SPDX-License-Identifier: MIT
#include "distributed/refusal_bytes.h"

#include <cstring>
#include <new>

#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::distributed {
namespace {

// Numbers as 8 bytes, texts with their length before them. Both ends are the same program.
class Writer {
 public:
  void number(int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(const std::string& value) {
    number(std::ssize(value));
    bytes_ += value;
  }
  std::string bytes_;
};

class TextReader {
 public:
  explicit TextReader(const std::string& bytes) : bytes_(bytes) {}
  int64_t number() {
    int64_t value = 0;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const auto length = static_cast<size_t>(number());
    at_ += length;
    return bytes_.substr(at_ - length, length);
  }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
};

std::string encode(Refusal refusal, int rank, const IndexError* index) {
  refusal.detail = cat("on rank ", rank, ": ", refusal.detail);
  Writer out;
  out.number(static_cast<int64_t>(refusal.code));
  out.number(static_cast<int64_t>(refusal.cause.reason));
  for (const std::string* text : {&refusal.who, &refusal.what, &refusal.detail, &refusal.given,
                                  &refusal.next, &refusal.picture}) {
    out.text(*text);
  }
  out.number(index != nullptr ? index->position().size() : -1);
  if (index != nullptr) {
    for (const int64_t p : index->position()) {
      out.number(p);
    }
    out.number(index->bad_count());
  }
  return out.bytes_;
}

}  // namespace

std::string bytes_of(const std::exception_ptr& error, std::string_view who, int rank) {
  const auto other = [&](ErrorCode code, const char* what, const std::string& detail,
                         const char* next) {
    return encode(
        {.code = code, .who = std::string(who), .what = what, .detail = detail, .next = next}, rank,
        nullptr);
  };
  try {
    std::rethrow_exception(error);
  } catch (const IndexError& e) {
    return encode(e.refusal(), rank, &e);
  } catch (const Error& e) {
    Refusal refusal = e.refusal();
    if (refusal.who.empty()) {  // an error that is only text
      return other(refusal.code, "failed", e.what(), "what that rank's error says");
    }
    return encode(refusal, rank, nullptr);
  } catch (const std::bad_alloc&) {
    return other(ErrorCode::kOutOfMemory, "out of memory", "an allocation failed",
                 "a smaller workspace_bytes");
  } catch (const std::exception& e) {
    return other(ErrorCode::kInvalidArgument, "failed", e.what(), "what that rank's error says");
  }
}

void throw_bytes(const std::string& bytes) {
  TextReader in(bytes);
  Refusal refusal;
  refusal.code = static_cast<ErrorCode>(in.number());
  refusal.cause.reason = static_cast<Reason>(in.number());
  for (std::string* text : {&refusal.who, &refusal.what, &refusal.detail, &refusal.given,
                            &refusal.next, &refusal.picture}) {
    *text = in.text();
  }
  const int64_t dims = in.number();
  if (dims < 0) {
    throw Error(std::move(refusal));
  }
  Dims position;
  for (int64_t d = 0; d < dims; ++d) {
    position.push_back(in.number());
  }
  throw IndexError(std::move(refusal), position, in.number());
}

}  // namespace sheaf::distributed

// SPDX-License-Identifier: MIT
#include "distributed/refusal_bytes.h"

#include <cstring>
#include <new>
#include <utility>

#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::distributed {
namespace {

// Numbers as 8 bytes, texts with their length before them. Both ends are the same program, but a
// transport may damage what lies between them.
class Writer {
 public:
  void number(int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(const std::string& value) {
    number(std::ssize(value));
    bytes_ += value;
  }
  void numbers(const Dims& values) {
    number(values.size());
    for (const int64_t value : values) {
      number(value);
    }
  }
  std::string bytes_;
};

class TextReader {
 public:
  explicit TextReader(const std::string& bytes) : bytes_(bytes) {}
  int64_t number() { return number_in(INT64_MIN, INT64_MAX); }
  int64_t number_in(int64_t least, int64_t most) {
    int64_t value = 0;
    std::memcpy(&value, take(sizeof value), sizeof value);
    if (value < least || value > most) {
      throw_damaged();
    }
    return value;
  }
  std::string text() {
    const auto length = static_cast<size_t>(number_in(0, std::ssize(bytes_)));
    return {take(length), length};
  }
  Dims numbers() {
    Dims values;
    for (int64_t left = number_in(0, kMaxRank); left > 0; --left) {
      values.push_back(number());
    }
    return values;
  }

 private:
  [[noreturn]] static void throw_damaged() {
    throw Error(Refusal{.code = ErrorCode::kDevice,
                        .who = "transport",
                        .what = "damaged message",
                        .detail = "another rank's error cannot be read",
                        .next = "what that rank says"});
  }
  const char* take(size_t length) {
    if (bytes_.size() - at_ < length) {
      throw_damaged();
    }
    at_ += length;
    return bytes_.data() + at_ - length;
  }

  const std::string& bytes_;
  size_t at_ = 0;
};

// A cause names its tensor by a literal.
std::string_view literal(const std::string& tensor) {
  for (const std::string_view name : {"data", "indices", "updates", "output"}) {
    if (name == tensor) {
      return name;
    }
  }
  return {};
}

std::string encode(Refusal refusal, int rank, const IndexError* index) {
  refusal.detail = cat("on rank ", rank, ": ", refusal.detail);
  Writer out;
  out.number(static_cast<int64_t>(refusal.code));
  const Cause& cause = refusal.cause;
  out.number(static_cast<int64_t>(cause.reason));
  out.text(std::string(cause.tensor));
  out.number(cause.axis);
  out.numbers(cause.got);
  out.numbers(cause.wanted);
  for (const std::string* text : {&refusal.who, &refusal.what, &refusal.detail, &refusal.given,
                                  &refusal.next, &refusal.picture}) {
    out.text(*text);
  }
  out.number(index != nullptr ? 1 : 0);
  if (index != nullptr) {
    out.numbers(index->position());
    out.number(index->bad_count());
  }
  return out.bytes_;
}

}  // namespace

std::string bytes_of(const std::exception_ptr& error, std::string_view who, int rank) {
  const auto other = [&](ErrorCode code, const char* what, const std::string& detail,
                         const char* next) {
    Refusal refusal;
    refusal.code = code;
    refusal.who = who;
    refusal.what = what;
    refusal.detail = detail;
    refusal.next = next;
    return encode(std::move(refusal), rank, nullptr);
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
  refusal.cause.tensor = literal(in.text());
  refusal.cause.axis = static_cast<int>(in.number());
  refusal.cause.got = in.numbers();
  refusal.cause.wanted = in.numbers();
  for (std::string* text : {&refusal.who, &refusal.what, &refusal.detail, &refusal.given,
                            &refusal.next, &refusal.picture}) {
    *text = in.text();
  }
  if (in.number() == 0) {
    throw Error(std::move(refusal));
  }
  const Dims position = in.numbers();
  throw IndexError(std::move(refusal), position, in.number());
}

}  // namespace sheaf::distributed

// SPDX-License-Identifier: MIT
//
// Moves that look at values: conversions, sequences, one-hot rows and reversed sequences. Each
// element follows from its own inputs only, so threads share them in any way.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "execution/host_steps.h"
#include "execution/registry.h"
#include "moves/check.h"
#include "moves/convert.h"
#include "moves/moves.h"
#include "moves/rows.h"
#include "plan/byte_ranges.h"
#include "plan/request.h"
#include "plan/scalar.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::moves {
namespace {

// Loads, changes and stores `from` block by block. change(numbers, count) returns which of the
// three kinds they are then.
template <class Change>
Work convert(const char* who, const TensorSpec& from, const TensorSpec& to, Change change) {
  check_tensors(who, {{"from", from}, {"to", to}});
  check_numbers(who, from);
  check_numbers(who, to);
  check_same_sizes(who, from, to);
  check_written(who, to);
  Work work{[=, rows = rows_of(from, to)](auto inputs, auto outputs, const Queue& queue) {
    const auto* read = static_cast<const std::byte*>(inputs[0]);
    auto* written = static_cast<std::byte*>(outputs[0]);
    const auto piece = [&](int64_t from_at, int64_t to_at, int64_t, int64_t count) {
      WideNumber numbers[kBlock];
      for (int64_t i = 0; i < count; i += kBlock) {
        const int64_t block = std::min(kBlock, count - i);
        load(from.dtype, read + from_at + i * rows.a_step(), rows.a_step(), block, numbers);
        const Wide wide = change(wide_of(from.dtype), numbers, block);
        store(to.dtype, wide, numbers, written + to_at + i * rows.b_step(), rows.b_step(), block);
      }
    };
    run_ranges(who, rows.elements, saturating_mul(rows.elements, kElementCost), queue,
               [&](int64_t begin, int64_t end) { for_pieces(rows, begin, end, piece); });
  }};
  // In place is safe: both walk through the same addresses, and a block is read before it is
  // written.
  return checked(who, {{"from", from}}, {{"to", to}}, std::move(work), InPlace::kAllowed);
}

double as_double(Wide wide, const WideNumber& number) {
  switch (wide) {
    case Wide::kSigned: return static_cast<double>(number.signed_integer);
    case Wide::kUnsigned: return static_cast<double>(number.unsigned_integer);
    case Wide::kDouble: return number.number;
  }
  return 0;
}

}  // namespace

Work cast(const char* who, const TensorSpec& from, const TensorSpec& to) {
  return convert(who, from, to, [](Wide wide, WideNumber*, int64_t) { return wide; });
}

Work scale(const char* who, const TensorSpec& from, const TensorSpec& to, double factor,
           double bias) {
  return convert(who, from, to, [=](Wide wide, WideNumber* numbers, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      numbers[i].number = as_double(wide, numbers[i]) * factor + bias;
    }
    return Wide::kDouble;
  });
}

Work sequence(const char* who, const TensorSpec& to, const Scalar& start, const Scalar& delta) {
  check_tensor(who, "to", to);
  check_numbers(who, to);
  check_written(who, to);
  std::byte elements[2][kMaxElementBytes] = {};
  for (int i = 0; i < 2; ++i) {
    if (const auto reason = encode(i == 0 ? start : delta, to.dtype, elements[i])) {
      refuse({who, "value does not fit", *reason, to.str(), "values of that type"});
    }
  }
  WideNumber first, step;
  load(to.dtype, elements[0], 0, 1, &first);
  load(to.dtype, elements[1], 0, 1, &step);
  Work work{[=, rows = rows_of(to, to)](auto, auto outputs, const Queue& queue) {
    auto* written = static_cast<std::byte*>(outputs[0]);
    const Wide wide = wide_of(to.dtype);
    const auto piece = [&](int64_t at, int64_t, int64_t place, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        const auto number_of = static_cast<uint64_t>(place + i);
        WideNumber number;
        if (wide == Wide::kDouble) {
          number.number = first.number + static_cast<double>(number_of) * step.number;
        } else {  // unsigned arithmetic: it wraps, as the type does
          number.unsigned_integer = first.unsigned_integer + number_of * step.unsigned_integer;
        }
        store(to.dtype, wide, &number, written + at + i * rows.a_step(), 0, 1);
      }
    };
    run_ranges(who, rows.elements, saturating_mul(rows.elements, kElementCost), queue,
               [&](int64_t begin, int64_t end) { for_pieces(rows, begin, end, piece); });
  }};
  return checked(who, {}, {{"to", to}}, std::move(work));
}

namespace {

// The bytes of a tensor where the host can read them.
class HostCopy {
 public:
  HostCopy(const void* memory, const TensorSpec& spec, const Queue& queue)
      : data_(static_cast<const std::byte*>(memory)) {
    if (!queue.device.empty() && element_count(spec.sizes) > 0) {
      const ByteRange range = *byte_range(spec);
      copy_.resize(static_cast<size_t>(range.hi - range.lo));
      device_backend(queue.device).device->download(copy_.data(), data_ + range.lo, copy_.size());
      data_ = copy_.data() - range.lo;
    }
  }
  const std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> copy_;
  const std::byte* data_;
};

}  // namespace

Work reverse_subsequences(const char* who, const TensorSpec& from, const TensorSpec& lengths,
                          const TensorSpec& to, int64_t axis) {
  check_tensors(who, {{"from", from}, {"lengths", lengths}, {"to", to}});
  check_reduced(who, "lengths", lengths, from, axis);
  const int along = static_cast<int>(axis);
  // The indices of a gather_elements. Dimensions along which the lengths repeat need none of their
  // own.
  TensorSpec indices(i64, from.sizes);
  Dims kept = from.sizes;
  for (int d = 0; d < from.rank(); ++d) {
    // A dimension without entries stays one: there is no length to read.
    const bool repeats = lengths.strides[d] == 0 && from.sizes[d] > 0;
    if (d != along && (repeats || from.sizes[d] == 1)) {
      kept[d] = 1;
    }
  }
  const TensorSpec stored(i64, kept);
  check_tensor(who, "indices", stored);  // wider than from, whose elements may repeat
  for (int d = 0; d < from.rank(); ++d) {
    indices.strides[d] = kept[d] == 1 && d != along ? 0 : stored.strides[d];
  }
  Request r;
  r.op = Op::kGatherElements;
  r.name = who;
  r.data = from;
  r.indices = indices;
  r.output = to;
  r.output_given = true;
  r.axis = axis;
  r.rule = {.out_of_range = OutOfRange::kTrust};
  const int64_t size = from.sizes[along];
  // The lengths, beside the stored indices: the same along the axis.
  TensorSpec read(lengths.dtype, kept, lengths.strides);
  read.strides[along] = 0;
  const Rows rows = rows_of(stored, read);
  const auto index_of = [size, type = lengths.dtype, axis_stride = stored.strides[along]](
                            const std::byte* at, int64_t place) {
    WideNumber length;
    load(type, at, 0, 1, &length);
    const int64_t reversed = wide_of(type) == Wide::kSigned
                                 ? std::clamp<int64_t>(length.signed_integer, 0, size)
                                 : static_cast<int64_t>(std::min<uint64_t>(
                                       length.unsigned_integer, static_cast<uint64_t>(size)));
    const int64_t entry = place / axis_stride % size;
    return entry < reversed ? reversed - 1 - entry : entry;
  };
  Work work{[=, plan = make_plan(r)](auto inputs, auto outputs, const Queue& queue) {
              // The host reads the lengths and makes indices of them; the data stay where they are.
              const HostCopy host_lengths(inputs[1], lengths, queue);
              std::vector<int64_t> places(static_cast<size_t>(rows.elements));
              const auto piece = [&](int64_t, int64_t length_at, int64_t place, int64_t count) {
                for (int64_t i = 0; i < count; ++i) {
                  const auto* length = host_lengths.data() + length_at + i * rows.b_step();
                  places[static_cast<size_t>(place + i)] = index_of(length, place + i);
                }
              };
              run_ranges(who, rows.elements, saturating_mul(rows.elements, kElementCost), queue,
                         [&](int64_t begin, int64_t end) { for_pieces(rows, begin, end, piece); });
              if (queue.device.empty()) {
                return run_plan(plan, inputs[0], places.data(), outputs[0], queue);
              }
              DeviceMemory there(queue.device, places.size() * sizeof(int64_t));
              there.upload(places.data(), there.bytes());
              run_plan(plan, inputs[0], there.data(), outputs[0], queue);
            },
            true};
  return checked(who, {{"from", from}, {"lengths", lengths}}, {{"to", to}}, std::move(work));
}

Work one_hot(const char* who, const TensorSpec& indices, const TensorSpec& off_on,
             const TensorSpec& to, int64_t axis) {
  check_tensors(who, {{"indices", indices}, {"values", off_on}, {"to", to}});
  check_reduced(who, "indices", indices, to, axis);
  // The on value is the next element along the fastest dimension that has one.
  int64_t on_stride = 0;
  bool found = false;
  for (int d = off_on.rank() - 1; d >= 0 && !found; --d) {
    found = off_on.sizes[d] > 1;
    on_stride = found ? off_on.strides[d] : 0;
  }
  if (!found || element_count(off_on.sizes) == 0 || off_on.dtype != to.dtype) {
    refuse({who, "values do not fit",
            cat("values is ", off_on.str(), ", but two elements of type ", to.dtype.name(),
                " are needed"),
            to.str(), "two values of the output's type: off and on"});
  }
  const TensorSpec repeated(to.dtype, to.sizes, Dims(to.rank(), 0));
  Work off = copy(who, repeated, to);
  Request r;
  r.op = Op::kScatterElements;
  r.name = who;
  r.data = to;
  r.indices = indices;
  r.updates = TensorSpec(to.dtype, indices.sizes, Dims(to.rank(), 0));
  r.output = to;
  r.output_given = true;
  r.axis = axis;
  r.rule = {.negative = Negative::kFromEnd, .out_of_range = OutOfRange::kSkip};
  Work work{[off = std::move(off), on = make_plan(r), on_bytes = on_stride * to.dtype.bytes()](
                auto inputs, auto outputs, const Queue& queue) {
              const auto* values = static_cast<const std::byte*>(inputs[1]);
              const void* source[] = {values};
              off(source, outputs, queue);
              run_plan(on, outputs[0], inputs[0], values + on_bytes, outputs[0], queue);
            },
            true};
  return checked(who, {{"indices", indices}, {"values", off_on}}, {{"to", to}}, std::move(work));
}

}  // namespace sheaf::moves

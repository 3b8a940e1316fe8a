// SPDX-License-Identifier: MIT
#include "helpers/move_call.h"

#include <algorithm>

using sheaf::ConstTensor;
using sheaf::Dims;
using sheaf::DType;
using sheaf::PadMode;
using sheaf::Tensor;
using sheaf::TensorSpec;

namespace {

constexpr DType kMoveNumbers[] = {sheaf::u8,  sheaf::i8,   sheaf::i16, sheaf::u16,
                                  sheaf::i32, sheaf::u32,  sheaf::i64, sheaf::u64,
                                  sheaf::f16, sheaf::bf16, sheaf::f32, sheaf::f64};
constexpr DType kMoveIntegers[] = {sheaf::i64, sheaf::i32, sheaf::u8,
                                   sheaf::i16, sheaf::u64, sheaf::i8};

class MoveMaker {
 public:
  explicit MoveMaker(const ChooseNumber& choose) : choose_(choose) {}

  MoveCall make() {
    call_.kind = static_cast<MoveKind>(choose_(0, kMoveKinds - 1));
    switch (call_.kind) {
      case MoveKind::kCopy: make_copy(); break;
      case MoveKind::kCast: make_cast(); break;
      case MoveKind::kFill:
      case MoveKind::kSequence: make_fill(); break;
      case MoveKind::kTile: make_tile(); break;
      case MoveKind::kJoin:
      case MoveKind::kSplit: make_parts(); break;
      case MoveKind::kSlice: make_slice(); break;
      case MoveKind::kPad: make_pad(); break;
      case MoveKind::kReverse: make_reverse(); break;
      case MoveKind::kOneHot: make_one_hot(); break;
      case MoveKind::kNonzero: make_nonzero(); break;
      case MoveKind::kTopK: make_top_k(); break;
    }
    return call_;
  }

 private:
  DType number() { return kMoveNumbers[choose_(0, std::ssize(kMoveNumbers) - 1)]; }
  DType integer() { return kMoveIntegers[choose_(0, std::ssize(kMoveIntegers) - 1)]; }
  // Copies take any element.
  DType any() {
    const int64_t choice = choose_(0, 9);
    return choice == 0 ? sheaf::c64 : choice == 1 ? sheaf::opaque(3) : number();
  }
  Dims sizes(int64_t least_rank, int64_t least) {
    Dims result;
    for (int64_t rank = choose_(least_rank, 3); rank > 0; --rank) {
      result.push_back(choose_(least, 4));
    }
    return result;
  }

  // Row-major, column-major, with gaps, or backwards.
  TensorSpec laid_out(DType type, const Dims& of) {
    TensorSpec spec(type, of);
    const int64_t layout = choose_(0, 3);
    int64_t stride = 1;
    for (int d = 0; layout == 1 && d < spec.rank(); ++d) {
      spec.strides[d] = stride;
      stride *= std::max<int64_t>(1, of[d]);
    }
    for (int d = 0; layout > 1 && d < spec.rank(); ++d) {
      spec.strides[d] *= layout == 2 ? 2 : -1;
    }
    return spec;
  }
  void input(DType type, const Dims& of) {
    TensorSpec spec = laid_out(type, of);
    if (spec.rank() > 0 && choose_(0, 4) == 0) {
      spec.strides[static_cast<int>(choose_(0, spec.rank() - 1))] = 0;
    }
    call_.inputs.push_back(spec);
  }
  void output(DType type, const Dims& of) { call_.outputs.push_back(laid_out(type, of)); }
  void choose_axis(const Dims& of) { call_.axis = choose_(0, of.size() - 1); }
  Dims with(Dims of, int64_t size) const {
    of[static_cast<int>(call_.axis)] = size;
    return of;
  }

  void make_copy() {
    const DType type = any();
    const Dims to = sizes(0, 0);
    Dims from;
    for (int d = static_cast<int>(choose_(0, to.size())); d < to.size(); ++d) {
      from.push_back(choose_(0, 3) == 0 ? 1 : to[d]);
    }
    input(type, from);
    output(type, to);
  }
  void make_cast() {
    const Dims both = sizes(0, 0);
    input(number(), both);
    output(number(), both);
  }
  void make_fill() {
    output(number(), sizes(0, 0));
    call_.value = choose_(0, 5);
    call_.delta = choose_(0, 3);
  }
  void make_tile() {
    const DType type = any();
    const Dims from = sizes(0, 0);
    Dims to = from;
    for (int d = 0; d < to.size(); ++d) {
      call_.at.push_back(choose_(1, 3));
      to[d] *= call_.at[d];
    }
    input(type, from);
    output(type, to);
  }
  void make_parts() {
    const DType type = any();
    const Dims whole = sizes(1, 0);
    choose_axis(whole);
    std::vector<Dims> parts;
    int64_t left = whole[static_cast<int>(call_.axis)];
    for (int64_t more = choose_(0, 3); more > 0; --more) {
      parts.push_back(with(whole, choose_(0, left)));
      left -= parts.back()[static_cast<int>(call_.axis)];
    }
    parts.push_back(with(whole, left));
    const bool join = call_.kind == MoveKind::kJoin;
    join ? output(type, whole) : input(type, whole);
    for (const Dims& part : parts) {
      join ? input(type, part) : output(type, part);
    }
  }
  void make_slice() {
    const DType type = any();
    const Dims from = sizes(0, 1);
    Dims to;
    for (const int64_t size : from) {
      const int64_t step = choose_(1, 3), start = choose_(0, size - 1);
      const bool back = choose_(0, 1) == 1;
      const int64_t most = (back ? start : size - 1 - start) / step + 1;
      call_.at.push_back(start);
      call_.steps.push_back(back ? -step : step);
      to.push_back(choose_(0, most));
    }
    input(type, from);
    output(type, to);
  }
  void make_pad() {
    const DType type = number();
    const Dims from = sizes(0, 1);
    Dims to = from;
    for (int d = 0; d < to.size(); ++d) {
      call_.at.push_back(choose_(0, 4));
      to[d] += call_.at[d] + choose_(0, 4);
    }
    call_.mode = static_cast<PadMode>(choose_(0, 4));
    call_.value = choose_(0, 5);
    input(type, from);
    output(type, to);
  }
  void make_reverse() {
    const DType type = any();
    const Dims both = sizes(1, 0);
    choose_axis(both);
    input(type, both);
    input(integer(), with(both, 1));
    output(type, both);
  }
  void make_one_hot() {
    const DType type = any();
    const Dims to = sizes(1, 1);
    choose_axis(to);
    input(integer(), with(to, 1));
    call_.inputs.push_back(laid_out(type, {2}));
    output(type, to);
  }
  void make_nonzero() {
    const Dims from = sizes(0, 0);
    input(number(), from);
    output(integer(), {sheaf::element_count(from), from.size()});
  }
  void make_top_k() {
    constexpr DType kExactInDouble[] = {sheaf::f32, sheaf::i32, sheaf::u8, sheaf::i16};
    const DType type = kExactInDouble[choose_(0, 3)];
    const Dims from = sizes(1, 0);
    choose_axis(from);
    const Dims kept = with(from, choose_(0, from[static_cast<int>(call_.axis)]));
    call_.largest = choose_(0, 1) == 1;
    input(type, from);
    output(type, kept);
    output(integer(), kept);
  }

  const ChooseNumber& choose_;
  MoveCall call_;
};

}  // namespace

MoveCall random_move(const ChooseNumber& choose) { return MoveMaker(choose).make(); }

int64_t run_move(const MoveCall& call, std::span<const void* const> inputs,
                 std::span<void* const> outputs) {
  std::vector<ConstTensor> from;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    from.push_back({inputs[i], call.inputs[i]});
  }
  std::vector<Tensor> to;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    to.push_back({outputs[i], call.outputs[i]});
  }
  switch (call.kind) {
    case MoveKind::kCopy: sheaf::copy(from[0], to[0]); break;
    case MoveKind::kCast: sheaf::cast(from[0], to[0]); break;
    case MoveKind::kFill: sheaf::fill(to[0], call.value); break;
    case MoveKind::kSequence: sheaf::fill_sequence(to[0], call.value, call.delta); break;
    case MoveKind::kTile: sheaf::tile(from[0], to[0], call.at); break;
    case MoveKind::kJoin: sheaf::join(from, call.axis, to[0]); break;
    case MoveKind::kSplit: sheaf::split(from[0], call.axis, to); break;
    case MoveKind::kSlice: sheaf::slice(from[0], to[0], call.at, call.steps); break;
    case MoveKind::kPad: sheaf::pad(from[0], to[0], call.at, call.mode, call.value); break;
    case MoveKind::kReverse: sheaf::reverse_subsequences(from[0], from[1], to[0], call.axis); break;
    case MoveKind::kOneHot: sheaf::one_hot(from[0], from[1], to[0], call.axis); break;
    case MoveKind::kNonzero: return sheaf::nonzero(from[0], to[0]);
    case MoveKind::kTopK: sheaf::top_k(from[0], to[0], to[1], call.axis, call.largest); break;
  }
  return 0;
}

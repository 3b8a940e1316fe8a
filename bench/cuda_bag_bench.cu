// SPDX-License-Identifier: MIT
//
// Device times of bags and mixtures of experts, case by case: medians of CUDA events. Before each
// run the L2 cache is filled with other lines, which are read and not written: lines that wait to
// be written back would be charged to the run. With --warm it is left as the run before left it.
// Prints one line per case: milliseconds, and bytes of rows, indices, weights, offsets and outputs
// per second. A sample of the bags is compared with the reference, bit for bit; so is the order of
// the experts, and the rows of a sample of tokens.
//
//   cuda_bag_bench [--only TEXT] [--runs N] [--warm]     cmake -DSHEAF_BENCH=ON builds it
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "sheaf/bag.h"
#include "sheaf/cuda.h"
#include "sheaf/moe.h"
#include "sheaf/sheaf.h"

namespace {

using namespace sheaf;

constexpr int64_t kTableBytes = int64_t{8} << 30;
constexpr int64_t kBags = 131072;

void require(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct Free {
  void operator()(std::byte* memory) const { cudaFree(memory); }
};
using Memory = std::unique_ptr<std::byte, Free>;

Memory allocate(int64_t bytes) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, static_cast<size_t>(std::max<int64_t>(bytes, 16))));
  return Memory(static_cast<std::byte*>(memory));
}

template <class T>
Memory uploaded(const std::vector<T>& values) {
  Memory memory = allocate(static_cast<int64_t>(values.size() * sizeof(T)));
  require(
      cudaMemcpy(memory.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

std::vector<std::byte> downloaded(const std::byte* from, int64_t bytes) {
  std::vector<std::byte> host(static_cast<size_t>(bytes));
  require(cudaMemcpy(host.data(), from, host.size(), cudaMemcpyDeviceToHost));
  return host;
}

__device__ uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDULL;
  x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53ULL;
  return x ^ (x >> 33);
}

// What the table is filled with: floats of (-1, 1) in their type, or bytes.
enum class Filling { kF32, kF16, kBF16, kBytes };

__global__ void fill_table(uint32_t* words, int64_t count, Filling filling) {
  for (int64_t i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL) {
    const uint64_t random = mixed(static_cast<uint64_t>(i));
    const float a = static_cast<float>(static_cast<int32_t>(random)) / 2147483648.0F;
    const float b = static_cast<float>(static_cast<int32_t>(random >> 32)) / 2147483648.0F;
    const auto half = [](float x) { return uint32_t{__half_as_ushort(__float2half_rn(x))}; };
    words[i] = filling == Filling::kF32   ? __float_as_uint(a)
               : filling == Filling::kF16 ? half(a) | half(b) << 16
               : filling == Filling::kBF16
                   ? __float_as_uint(a) >> 16 | (__float_as_uint(b) & 0xFFFF0000U)
                   : static_cast<uint32_t>(random);
  }
}

// The scale and bias behind the codes of a row.
__global__ void fill_scales(std::byte* table, int64_t rows, int64_t row_bytes, int scale_bytes) {
  for (int64_t i = blockIdx.x * 256LL + threadIdx.x; i < rows; i += gridDim.x * 256LL) {
    std::byte* const at = table + (i + 1) * row_bytes - 2 * scale_bytes;
    const float scale = 0.001F * static_cast<float>(1 + i % 100);
    if (scale_bytes == 4) {
      reinterpret_cast<float*>(at)[0] = scale;
      reinterpret_cast<float*>(at)[1] = -scale;
    } else {
      reinterpret_cast<__half*>(at)[0] = __float2half_rn(scale);
      reinterpret_cast<__half*>(at)[1] = __float2half_rn(-scale);
    }
  }
}

struct Case {
  std::string name;
  EncodedSpec table;
  Filling filling = Filling::kF32;
  std::vector<int64_t> lengths = {};  // empty: per_bag entries each, of a matrix of indices
  int64_t bags = kBags, per_bag = 0;
  bool permutation = false;  // indices are every row once
  bool zipf = false;
  std::optional<DType> weights = {};
  BagOptions options = {};
  bool fresh = false;
};

int64_t row_bytes_of(const Case& c) {
  return c.table.stored.strides[0] * c.table.stored.dtype.bytes();
}

std::vector<int64_t> indices_of(const Case& c, int64_t entries) {
  std::vector<int64_t> values(static_cast<size_t>(entries));
  const int64_t rows = c.table.sizes[0];
  std::mt19937_64 random(5);
  if (c.permutation) {
    std::iota(values.begin(), values.end(), int64_t{0});
    std::shuffle(values.begin(), values.end(), random);
    return values;
  }
  for (int64_t& value : values) {
    const auto any = static_cast<double>(random() >> 11) / 9007199254740992.0;
    const double spread = c.zipf ? std::pow(any, 4) : any;  // a few rows are named often
    value = std::min(static_cast<int64_t>(spread * static_cast<double>(rows)), rows - 1);
    value = c.zipf ? value * 7919 % rows : value;
  }
  return values;
}

// A case on the device.
class Bags {
 public:
  Bags(const Case& c, const std::byte* table) : c_(c), table_(table) {
    entries_ = c.lengths.empty() ? c.bags * c.per_bag
                                 : std::accumulate(c.lengths.begin(), c.lengths.end(), int64_t{0});
    host_indices_ = indices_of(c, entries_);
    indices_ = uploaded(host_indices_);
    BagSpecs specs{.data = c.table};
    specs.indices =
        c.lengths.empty() ? TensorSpec(i64, {c.bags, c.per_bag}) : TensorSpec(i64, {entries_});
    if (!c.lengths.empty()) {
      std::vector<int64_t> offsets(c.lengths.size() + 1, 0);
      std::partial_sum(c.lengths.begin(), c.lengths.end(), offsets.begin() + 1);
      offsets_ = uploaded(offsets);
      host_offsets_ = offsets;
      specs.segments = TensorSpec(i64, {static_cast<int64_t>(offsets.size())});
    }
    if (c.weights) {
      std::vector<float> weights(static_cast<size_t>(entries_));
      for (size_t i = 0; i < weights.size(); ++i) {
        weights[i] = 0.001F * static_cast<float>(1 + i % 997);
      }
      host_weights_ = weights;
      weights_ = uploaded(weights);
      specs.weights = TensorSpec(f32, specs.indices->sizes);
    }
    BagOptions options = c.options;
    options.last_offset = true;
    plan_ = std::make_unique<BagPlan>(plan_bag(specs, options));
    output_bytes_ = element_count(plan_->output().sizes) * plan_->output().dtype.bytes();
    output_ = allocate(output_bytes_);
    require(cudaMemset(output_.get(), 0xA5, static_cast<size_t>(output_bytes_)));
    workspace_bytes_ = workspace_bytes(*plan_, {.device = cuda::kDevice});
    workspace_ = allocate(static_cast<int64_t>(workspace_bytes_));
  }

  Queue queue() const {
    return {.device = cuda::kDevice, .workspace = {workspace_.get(), workspace_bytes_}};
  }
  void run() const {
    sheaf::run(*plan_,
               {.stored = table_,
                .indices = indices_.get(),
                .segments = offsets_.get(),
                .weights = weights_.get(),
                .output = output_.get()},
               queue(), {.output_is_fresh = c_.fresh});
  }
  void finish() const { sheaf::finish(*plan_, queue()); }

  int64_t bytes() const {
    const int64_t per_entry = row_bytes_of(c_) + 8 + (c_.weights ? 4 : 0);
    return entries_ * per_entry + output_bytes_ + (c_.lengths.empty() ? 0 : c_.bags * 8);
  }

  // Bags here and there, and the longest, against the reference.
  bool sample_is_right() const {
    std::vector<int64_t> sample;
    for (int64_t s = 0; s < c_.bags; s += std::max<int64_t>(c_.bags / 61, 1)) sample.push_back(s);
    sample.push_back(c_.bags - 1);
    if (!c_.lengths.empty()) {
      sample.push_back(std::max_element(c_.lengths.begin(), c_.lengths.end()) - c_.lengths.begin());
    }
    return std::all_of(sample.begin(), sample.end(), [&](int64_t s) { return bag_is_right(s); });
  }

 private:
  bool bag_is_right(int64_t s) const {
    const int64_t begin =
        c_.lengths.empty() ? s * c_.per_bag : host_offsets_[static_cast<size_t>(s)];
    const int64_t count = c_.lengths.empty() ? c_.per_bag : c_.lengths[static_cast<size_t>(s)];
    const int64_t row_bytes = row_bytes_of(c_);
    // The bag's rows, side by side, by a gather of bytes.
    const Memory rows = allocate(count * row_bytes);
    const Plan gather = plan_gather({u8, {c_.table.sizes[0], row_bytes}}, {i64, {count}},
                                    {.rule = {.out_of_range = OutOfRange::kClamp}});
    sheaf::run(gather, table_, indices_.get() + begin * 8, rows.get(), {.device = cuda::kDevice});
    const std::vector<std::byte> host_rows = downloaded(rows.get(), count * row_bytes);
    EncodedSpec table = c_.table;
    table.sizes[0] = table.stored.sizes[0] = count;
    BagSpecs specs{.data = table};
    specs.segments = TensorSpec(i64, {1});
    BagOptions options = c_.options;
    options.rule = {};
    options.segments = SegmentForm::kLengths;
    if (c_.weights) specs.weights = TensorSpec(f32, {count});
    const BagPlan plan = plan_bag(specs, options);
    const int64_t bytes = output_bytes_ / c_.bags;
    std::vector<std::byte> right(static_cast<size_t>(bytes));
    plan.run({.stored = host_rows.data(),
              .segments = &count,
              .weights = c_.weights ? host_weights_.data() + begin : nullptr,
              .output = right.data()},
             {.kernel = "reference"});
    return right == downloaded(output_.get() + s * bytes, bytes);
  }

  const Case& c_;
  const std::byte* table_;
  int64_t entries_ = 0, output_bytes_ = 0;
  size_t workspace_bytes_ = 0;
  std::unique_ptr<BagPlan> plan_;
  std::vector<int64_t> host_indices_, host_offsets_;
  std::vector<float> host_weights_;
  Memory indices_, offsets_, weights_, output_, workspace_;
};

__global__ void read_all(const uint4* words, int64_t count, uint32_t* sink) {
  uint32_t all = 0;
  for (int64_t i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL) {
    const uint4 word = words[i];
    all |= word.x | word.y | word.z | word.w;
  }
  if (all != 0) *sink = all;  // never: the words are 0
}

class Timer {
 public:
  explicit Timer(bool flushes) : flushes_(flushes), flush_(allocate(kFlush)) {
    require(cudaMemset(flush_.get(), 0, kFlush));
    require(cudaEventCreate(&begin_));
    require(cudaEventCreate(&end_));
  }
  double median(int runs, const std::function<void()>& run) {
    std::vector<float> times;
    for (int i = 0; i < runs; ++i) {
      if (flushes_) {
        read_all<<<1024, 256>>>(reinterpret_cast<const uint4*>(flush_.get()), kFlush / 16,
                                reinterpret_cast<uint32_t*>(flush_.get()));
      }
      require(cudaEventRecord(begin_));
      run();
      require(cudaEventRecord(end_));
      require(cudaEventSynchronize(end_));
      float ms = 0;
      require(cudaEventElapsedTime(&ms, begin_, end_));
      times.push_back(ms);
    }
    std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
    return times[static_cast<size_t>(runs / 2)];
  }

 private:
  static constexpr int64_t kFlush = int64_t{256} << 20;
  bool flushes_;
  Memory flush_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

EncodedSpec floats(DType type, int64_t columns) {
  return TensorSpec(type, {kTableBytes / (columns * type.bytes()), columns});
}
EncodedSpec codes(Encoding encoding, int64_t columns) {
  return encoded_rows(encoding, {kTableBytes / encoded_row_bytes(encoding, columns), columns});
}

std::vector<int64_t> same_lengths(int64_t length) {
  return std::vector<int64_t>(static_cast<size_t>(kBags), length);
}

const BagOptions kClamped{.rule = {.out_of_range = OutOfRange::kClamp}};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, const EncodedSpec& table, Filling filling,
                       int64_t length, BagOptions options) {
    all.push_back({.name = name + ", bags of " + std::to_string(length),
                   .table = table,
                   .filling = filling,
                   .lengths = same_lengths(length),
                   .options = options});
  };
  BagOptions wide = kClamped;
  wide.output_type = f32;
  for (const int64_t length : {1, 4, 20, 64}) {
    add("f32 512 B", floats(f32, 128), Filling::kF32, length, kClamped);
    add("f32 256 B", floats(f32, 64), Filling::kF32, length, kClamped);
    add("f32 128 B", floats(f32, 32), Filling::kF32, length, kClamped);
    add("f16 256 B to f32", floats(f16, 128), Filling::kF16, length, wide);
    add("f16 256 B", floats(f16, 128), Filling::kF16, length, kClamped);
    add("u8 rows 128 + 8 B", codes(Encoding::kRowU8F32, 128), Filling::kBytes, length, kClamped);
    add("u4 rows 64 + 4 B", codes(Encoding::kRowU4F16, 128), Filling::kBytes, length, kClamped);
  }
  add("f32 512 B fail", floats(f32, 128), Filling::kF32, 1, {});
  all.push_back(all.back());
  all.back().name = "f32 512 B fail fresh, bags of 1";
  all.back().fresh = true;
  all.push_back(all.back());
  all.back().name = "f32 512 B fail fresh, matrix of 1";
  all.back().lengths.clear();
  all.back().per_bag = 1;
  all.push_back({.name = "f32 512 B, matrix of 1",
                 .table = floats(f32, 128),
                 .per_bag = 1,
                 .options = kClamped});
  all.push_back({.name = "f32 512 B, matrix of 20",
                 .table = floats(f32, 128),
                 .per_bag = 20,
                 .options = kClamped});
  for (const int64_t length : {1, 4, 20, 64}) {
    add("f32 512 B weighted", floats(f32, 128), Filling::kF32, length, kClamped);
    all.back().weights = f32;
  }
  for (const Pool pool : {Pool::kMean, Pool::kMax}) {
    BagOptions options = kClamped;
    options.pool = pool;
    add("f32 512 B " + std::string(to_string(pool)), floats(f32, 128), Filling::kF32, 20, options);
  }
  add("f32 512 B zipf indices", floats(f32, 128), Filling::kF32, 20, kClamped);
  all.back().zipf = true;
  add("f32 512 B one of 1000000 among", floats(f32, 128), Filling::kF32, 1, kClamped);
  all.back().lengths[77777] = 1'000'000;
  add("f16 256 B one of 1000000 among", floats(f16, 128), Filling::kF16, 1, kClamped);
  all.back().lengths[77777] = 1'000'000;
  add("f32 512 B zipf lengths, mean", floats(f32, 128), Filling::kF32, 20, kClamped);
  for (size_t i = 0; i < all.back().lengths.size(); ++i) {  // up to 200,000 of 2.4 million
    all.back().lengths[i] =
        static_cast<int64_t>(200'000.0 / static_cast<double>(i * 7919 % kBags + 1));
  }
  all.push_back({.name = "f32 512 B 100 bags of 20000",
                 .table = floats(f32, 128),
                 .lengths = std::vector<int64_t>(100, 20000),
                 .bags = 100,
                 .options = kClamped});
  all.push_back({.name = "unpermute 16384 x 7168 bf16, top 8",
                 .table = TensorSpec(bf16, {16384 * 8, 7168}),
                 .filling = Filling::kBF16,
                 .bags = 16384,
                 .per_bag = 8,
                 .permutation = true,
                 .weights = f32,
                 .options = kClamped});
  all.push_back({.name = "unpermute 65536 x 2048 bf16, top 6",
                 .table = TensorSpec(bf16, {65536 * 6, 2048}),
                 .filling = Filling::kBF16,
                 .bags = 65536,
                 .per_bag = 6,
                 .permutation = true,
                 .weights = f32,
                 .options = kClamped});
  return all;
}

// The table of the case before, if that was filled alike.
class FilledTable {
 public:
  FilledTable() : memory_(allocate(kTableBytes)) {}
  const std::byte* filled(const Case& c) {
    const int64_t row_bytes = row_bytes_of(c);
    if (filled_ && filling_ == c.filling && (filling_ != Filling::kBytes || row_ == row_bytes)) {
      return memory_.get();
    }
    fill_table<<<2048, 256>>>(reinterpret_cast<uint32_t*>(memory_.get()), kTableBytes / 4,
                              c.filling);
    if (c.filling == Filling::kBytes) {
      fill_scales<<<2048, 256>>>(memory_.get(), c.table.sizes[0], row_bytes,
                                 c.table.encoding == Encoding::kRowU8F32 ? 4 : 2);
    }
    filled_ = true;
    filling_ = c.filling;
    row_ = row_bytes;
    return memory_.get();
  }

 private:
  Memory memory_;
  bool filled_ = false;
  Filling filling_ = Filling::kF32;
  int64_t row_ = 0;
};

void print_line(const std::string& name, double ms, int64_t bytes, bool right) {
  std::printf("%-44s %9.4f ms %6.2f TB/s  %s\n", name.c_str(), ms,
              static_cast<double>(bytes) / ms / 1e9, right ? "same bits" : "WRONG");
  std::fflush(stdout);
}

void measure(const Case& c, int runs, Timer& timer, FilledTable& table) {
  const Bags bags(c, table.filled(c));
  bags.run();
  bags.finish();
  const bool right = bags.sample_is_right();
  const double ms = timer.median(runs, [&] { bags.run(); });
  bags.finish();
  print_line(c.name, ms, bags.bytes(), right);
}

// Tokens of bf16, each sent to `choices` different ones of kExperts experts.
struct ExpertCase {
  std::string name;
  int64_t tokens, width, choices;
  bool moves = true;  // false: the order alone
};
constexpr int64_t kExperts = 256;

std::vector<ExpertCase> expert_cases() {
  std::vector<ExpertCase> all;
  for (const bool moves : {true, false}) {
    const std::string name = moves ? "permute " : "order of experts ";
    all.push_back({name + "16384 x 7168 bf16, top 8", 16384, 7168, 8, moves});
    all.push_back({name + "65536 x 2048 bf16, top 6", 65536, 2048, 6, moves});
  }
  return all;
}

std::vector<int64_t> experts_of(const ExpertCase& c) {
  std::vector<int64_t> chosen;
  chosen.reserve(static_cast<size_t>(c.tokens * c.choices));
  std::mt19937_64 random(7);
  for (int64_t t = 0; t < c.tokens; ++t) {
    const auto begin = static_cast<int64_t>(chosen.size());
    while (static_cast<int64_t>(chosen.size()) < begin + c.choices) {
      const auto expert = static_cast<int64_t>(random() % kExperts);
      if (std::find(chosen.begin() + begin, chosen.end(), expert) == chosen.end()) {
        chosen.push_back(expert);
      }
    }
  }
  return chosen;
}

// A permutation on the device. Rows are 0xA5 before the first run.
class Permutation {
 public:
  Permutation(const ExpertCase& c, const std::byte* tokens)
      : c_(c),
        tokens_(tokens),
        plan_(plan_moe_permute(TensorSpec(bf16, {c.tokens, c.width}),
                               TensorSpec(i64, {c.tokens, c.choices}), {.experts = kExperts})),
        chosen_(experts_of(c)),
        experts_(uploaded(chosen_)),
        inverse_(allocate(count() * 8)),
        offsets_(allocate((kExperts + 1) * 8)),
        workspace_bytes_(workspace_bytes(plan_, {.device = cuda::kDevice})),
        workspace_(allocate(static_cast<int64_t>(workspace_bytes_))) {
    if (c.moves) {
      rows_ = allocate(count() * row_bytes());
      require(cudaMemset(rows_.get(), 0xA5, static_cast<size_t>(count() * row_bytes())));
    }
  }

  void run() const {
    sheaf::run(plan_,
               {.tokens = tokens_,
                .experts = experts_.get(),
                .rows = rows_.get(),
                .inverse = inverse_.get(),
                .offsets = offsets_.get()},
               queue());
  }
  void finish() const { sheaf::finish(plan_, queue()); }

  // A token is read once and written as often as it is sent.
  int64_t bytes() const {
    const int64_t moved = c_.moves ? (c_.tokens + count()) * row_bytes() : 0;
    return moved + count() * (8 + 8) + (kExperts + 1) * 8;
  }

  bool is_right() const {
    std::vector<int64_t> inverse(chosen_.size()), offsets(kExperts + 1);
    sheaf::run(plan_,
               {.experts = chosen_.data(), .inverse = inverse.data(), .offsets = offsets.data()},
               Queue{});
    return same(inverse_.get(), inverse) && same(offsets_.get(), offsets) &&
           (!c_.moves || rows_are_right(inverse));
  }

 private:
  int64_t count() const { return c_.tokens * c_.choices; }
  int64_t row_bytes() const { return c_.width * 2; }
  Queue queue() const {
    return {.device = cuda::kDevice, .workspace = {workspace_.get(), workspace_bytes_}};
  }

  static bool same(const std::byte* device, const std::vector<int64_t>& host) {
    const auto bytes = static_cast<int64_t>(host.size() * sizeof(int64_t));
    const std::vector<std::byte> there = downloaded(device, bytes);
    return std::memcmp(there.data(), host.data(), there.size()) == 0;
  }

  bool rows_are_right(const std::vector<int64_t>& inverse) const {
    for (int64_t t = 0; t < c_.tokens; t += std::max<int64_t>(c_.tokens / 61, 1)) {
      const std::vector<std::byte> token = downloaded(tokens_ + t * row_bytes(), row_bytes());
      for (int64_t k = 0; k < c_.choices; ++k) {
        const int64_t row = inverse[static_cast<size_t>(t * c_.choices + k)];
        if (downloaded(rows_.get() + row * row_bytes(), row_bytes()) != token) return false;
      }
    }
    return true;
  }

  const ExpertCase& c_;
  const std::byte* tokens_;
  MoePlan plan_;
  std::vector<int64_t> chosen_;
  Memory experts_, inverse_, offsets_;
  size_t workspace_bytes_;
  Memory workspace_, rows_;
};

void measure(const ExpertCase& c, int runs, Timer& timer, FilledTable& table) {
  const Case filling{
      .name = c.name, .table = TensorSpec(bf16, {c.tokens, c.width}), .filling = Filling::kBF16};
  const Permutation permutation(c, table.filled(filling));
  permutation.run();
  permutation.finish();
  const bool right = permutation.is_right();
  const double ms = timer.median(runs, [&] { permutation.run(); });
  permutation.finish();
  print_line(c.name, ms, permutation.bytes(), right);
}

}  // namespace

int main(int argc, char** argv) {
  std::string only;
  int runs = 15;
  bool flushes = true;
  for (int i = 1; i < argc; ++i) {
    const bool has_value = i + 1 < argc;
    if (std::strcmp(argv[i], "--warm") == 0) flushes = false;
    if (std::strcmp(argv[i], "--only") == 0 && has_value) only = argv[++i];
    if (std::strcmp(argv[i], "--runs") == 0 && has_value) runs = std::atoi(argv[++i]);
  }
  try {
    Timer timer(flushes);
    FilledTable table;
    for (const Case& c : cases()) {
      if (c.name.find(only) != std::string::npos) measure(c, runs, timer, table);
    }
    for (const ExpertCase& c : expert_cases()) {
      if (c.name.find(only) != std::string::npos) measure(c, runs, timer, table);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: MIT
#include "world.h"

#include <algorithm>
#include <cstring>

#include "helpers/rng.h"
#include "support/text.h"

namespace world {
namespace {

using sheaf::Array;
using sheaf::Dims;
using sheaf::Op;
using sheaf::TensorSpec;

bool is_nd(const Problem& p) { return p.op == Op::kGatherNd || p.op == Op::kScatterNd; }
bool is_elements(const Problem& p) {
  return p.op == Op::kGatherElements || p.op == Op::kScatterElements;
}

int64_t count_of(const Problem& p, int rank) {
  Rng rng(p.seed * 977 + static_cast<uint64_t>(rank));
  return rank % 3 == 2 ? 0 : rng.from(1, p.most);
}

// The dimension of indices along which those of all ranks are joined.
int joined_dim(const Problem& p) {
  return static_cast<int>(is_elements(p) ? p.axis : p.batch_dims);
}

Dims index_sizes(const Problem& p, int64_t count) {
  Dims sizes;
  if (is_elements(p)) {
    sizes = p.data;
    sizes[p.axis] = count;
    return sizes;
  }
  for (int d = 0; d < p.batch_dims; ++d) {
    sizes.push_back(p.data[d]);
  }
  sizes.push_back(count);
  if (is_nd(p)) {
    sizes.push_back(p.tuple);
  }
  return sizes;
}

int64_t value(const Problem& p, Rng& rng, int64_t extent) {
  if (p.spread == Spread::kOneEntry) {
    return extent / 2;
  }
  if (p.rule.out_of_range != sheaf::OutOfRange::kFail && rng.one_in(6)) {
    return rng.from(-3 * extent, 3 * extent);
  }
  int64_t entry = rng.from(0, extent - 1);
  for (int i = 0; p.spread == Spread::kZipf && i < 2; ++i) {
    entry = rng.from(0, entry);
  }
  return rng.one_in(4) ? entry - extent : entry;  // from the end
}

size_t bytes_of(const TensorSpec& spec) {
  return static_cast<size_t>(sheaf::element_count(spec.sizes) * spec.dtype.bytes());
}

// Small numbers of both signs, whose sums and products are rounded now and then.
void randomise(Rng& rng, Array& array) {
  auto* bytes = static_cast<std::byte*>(array.tensor().data);
  const int64_t count = sheaf::element_count(array.sizes());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t number = rng.from(-1000, 1000);
    if (array.spec().dtype == sheaf::f32) {
      const float f = static_cast<float>(number) / 7;
      std::memcpy(bytes + i * 4, &f, 4);
    } else if (array.spec().dtype == sheaf::f64) {
      const double f = static_cast<double>(number) / 7;
      std::memcpy(bytes + i * 8, &f, 8);
    } else if (array.spec().dtype == sheaf::f16) {
      const auto bits =
          static_cast<uint16_t>(0x3800 + (number & 0x7ff) + (number < 0 ? 0x8000 : 0));
      std::memcpy(bytes + i * 2, &bits, 2);
    } else {
      std::memcpy(bytes + i * array.spec().dtype.bytes(), &number,
                  static_cast<size_t>(array.spec().dtype.bytes()));
    }
  }
}

// Tensors of all ranks, one after the other along `dim`.
Array joined(const std::vector<Array>& parts, int dim) {
  Dims sizes = parts[0].sizes();
  sizes[dim] = 0;
  for (const Array& part : parts) {
    sizes[dim] += part.sizes()[dim];
  }
  Array all(TensorSpec(parts[0].spec().dtype, sizes));
  int64_t before = 1, after = parts[0].spec().dtype.bytes();
  for (int d = 0; d < sizes.size(); ++d) {
    (d < dim ? before : after) *= d == dim ? 1 : sizes[d];
  }
  auto* to = static_cast<std::byte*>(all.tensor().data);
  for (int64_t b = 0; b < before; ++b) {
    for (const Array& part : parts) {
      const auto bytes = static_cast<size_t>(part.sizes()[dim] * after);
      const auto* from = static_cast<const std::byte*>(part.tensor().data);
      if (bytes > 0) {
        std::memcpy(to, from + b * part.sizes()[dim] * after, bytes);
      }
      to += bytes;
    }
  }
  return all;
}

std::string compared(const Array& got, const Array& wanted) {
  if (got.spec() != wanted.spec()) {
    return sheaf::cat("shape ", got.spec().str(), ", wanted ", wanted.spec().str());
  }
  const size_t bytes = bytes_of(got.spec());
  const auto* a = static_cast<const std::byte*>(got.tensor().data);
  const auto* b = static_cast<const std::byte*>(wanted.tensor().data);
  const auto differs = std::mismatch(a, a + bytes, b).first - a;
  return static_cast<size_t>(differs) == bytes
             ? ""
             : sheaf::cat("byte ", static_cast<int64_t>(differs), " of ", got.spec().str());
}

sheaf::Request request_of(const Problem& p, const TensorSpec& data, const TensorSpec& indices) {
  sheaf::Request r;
  r.op = p.op;
  r.name = to_string(p.op);
  r.data = data;
  r.indices = indices;
  r.updates_given = false;
  r.axis = p.axis;
  r.batch_dims = is_elements(p) ? 0 : p.batch_dims;
  r.rule = p.rule;
  r.reduction = p.reduction;
  r.include_self = p.include_self;
  r.onto_zeros = p.onto_zeros;
  return r;
}

template <class Options>
Options scatter_options(const Problem& p) {
  Options o;
  o.reduction = p.reduction;
  o.include_self = p.include_self;
  o.onto_zeros = p.onto_zeros;
  o.rule = p.rule;
  return o;
}

std::string gather_difference(const Problem& p, const Array& whole,
                              const sheaf::mpi::ShardedOptions& options) {
  const Array part = part_of(p, whole, rank());
  const sheaf::mpi::ShardedTensor sharded(MPI_COMM_WORLD, whole.spec(), p.axis, split_of(p),
                                          sheaf::mpi::Part(part.tensor()));
  const Array indices = indices_of(p, rank());
  sheaf::mpi::ShardedPlan plan = sharded_plan_of(p, sharded, indices.spec(), options);
  Array output(plan.output());
  plan.run(indices.tensor(), output.tensor());
  plan.run(indices.tensor(), output.tensor());  // a plan can be run again
  Array wanted(plan.output());
  plan_of(p, whole.spec(), indices.spec()).run(whole.tensor(), indices.tensor(), wanted.tensor());
  return compared(output, wanted);
}

std::string scatter_difference(const Problem& p, const Array& whole,
                               const sheaf::mpi::ShardedOptions& options) {
  std::vector<Array> indices, updates;
  for (int r = 0; r < ranks(); ++r) {
    indices.push_back(indices_of(p, r));
    updates.push_back(updates_of(p, r, plan_of(p, whole.spec(), indices.back().spec()).updates()));
  }
  Array part = part_of(p, whole, rank());
  const sheaf::mpi::ShardedTensor sharded(MPI_COMM_WORLD, whole.spec(), p.axis, split_of(p),
                                          sheaf::mpi::Part(part.tensor()));
  const auto mine = static_cast<size_t>(rank());
  sheaf::mpi::ShardedPlan plan = sharded_plan_of(p, sharded, indices[mine].spec(), options);
  plan.scatter(indices[mine].tensor(), updates[mine].tensor());

  const Array all = joined(indices, joined_dim(p));
  const Array all_updates = joined(updates, p.op == Op::kScatter ? p.axis : joined_dim(p));
  Array result(whole.spec());
  plan_of(p, whole.spec(), all.spec())
      .run(whole.tensor(), all.tensor(), all_updates.tensor(), result.tensor());
  return compared(part, part_of(p, result, rank()));
}

}  // namespace

int rank() {
  int value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &value);
  return value;
}

int ranks() {
  int value = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &value);
  return value;
}

std::string& said_without_mpi() {
  static std::string text;
  return text;
}

std::string Problem::str() const {
  return sheaf::cat(to_string(op), " ", TensorSpec(dtype, data).str(), " axis ", axis, " batch ",
                    batch_dims, " tuple ", tuple, " spread ", static_cast<int>(spread),
                    " division ", static_cast<int>(division), " rule ",
                    to_string(rule.out_of_range), " reduction ", to_string(reduction), " self ",
                    include_self ? 1 : 0, " seed ", static_cast<int64_t>(seed));
}

sheaf::mpi::Split split_of(const Problem& p) {
  const int64_t entries = p.data[p.axis];
  if (p.division == Division::kBlock) {
    return sheaf::mpi::Split::block(entries, ranks());
  }
  if (p.division == Division::kCyclic) {
    return sheaf::mpi::Split::block_cyclic(entries, ranks(), 2);
  }
  std::vector<int64_t> offsets{0};  // uneven; the first rank has none if there are others
  for (int r = 1; r <= ranks(); ++r) {
    offsets.push_back(r == ranks() ? entries : entries * (r - 1) * (r - 1) / (ranks() * ranks()));
  }
  return sheaf::mpi::Split::at_offsets(offsets);
}

Array whole_data(const Problem& p) {
  Array whole(TensorSpec(p.dtype, p.data));
  Rng rng(p.seed);
  randomise(rng, whole);
  return whole;
}

Array part_of(const Problem& p, const Array& whole, int rank) {
  const sheaf::mpi::Split split = split_of(p);
  std::vector<int64_t> entries;
  for (int64_t i = 0; i < split.count(rank); ++i) {
    entries.push_back(split.entry(rank, i));
  }
  return sheaf::gather(whole.tensor(), sheaf::view(entries), {.axis = p.axis});
}

Array indices_of(const Problem& p, int rank) {
  Array indices(TensorSpec(sheaf::i64, index_sizes(p, count_of(p, rank))));
  Rng rng(p.seed * 31 + static_cast<uint64_t>(rank));
  int64_t number = 0;
  for (int64_t& index : indices.elements<int64_t>()) {
    const int component = is_nd(p) ? static_cast<int>(number++ % p.tuple) : 0;
    index = value(p, rng, p.data[is_nd(p) ? static_cast<int>(p.batch_dims) + component : p.axis]);
  }
  return indices;
}

Array updates_of(const Problem& p, int rank, const TensorSpec& spec) {
  Array updates(spec);
  Rng rng(p.seed * 57 + static_cast<uint64_t>(rank));
  randomise(rng, updates);
  return updates;
}

sheaf::Plan plan_of(const Problem& p, const TensorSpec& data, const TensorSpec& indices) {
  return make_plan(request_of(p, data, indices));
}

sheaf::mpi::ShardedPlan sharded_plan_of(const Problem& p, const sheaf::mpi::ShardedTensor& data,
                                        const TensorSpec& indices,
                                        const sheaf::mpi::ShardedOptions& options) {
  using namespace sheaf;
  const auto updates = [&] { return plan_of(p, data.spec(), indices).updates(); };
  switch (p.op) {
    case Op::kGather:
      return mpi::plan_gather(
          data, indices, {.axis = p.axis, .batch_dims = p.batch_dims, .rule = p.rule}, options);
    case Op::kGatherElements:
      return mpi::plan_gather_elements(data, indices, {.axis = p.axis, .rule = p.rule}, options);
    case Op::kGatherNd:
      return mpi::plan_gather_nd(data, indices, {.batch_dims = p.batch_dims, .rule = p.rule},
                                 options);
    case Op::kScatter: {
      auto o = scatter_options<ScatterOptions>(p);
      o.axis = p.axis;
      o.batch_dims = p.batch_dims;
      return mpi::plan_scatter(data, indices, updates(), o, options);
    }
    case Op::kScatterElements: {
      auto o = scatter_options<ScatterElementsOptions>(p);
      o.axis = p.axis;
      return mpi::plan_scatter_elements(data, indices, updates(), o, options);
    }
    default: {
      auto o = scatter_options<ScatterNdOptions>(p);
      o.batch_dims = p.batch_dims;
      return mpi::plan_scatter_nd(data, indices, updates(), o, options);
    }
  }
}

std::string difference(const Problem& p, const sheaf::mpi::ShardedOptions& options) {
  const Array whole = whole_data(p);
  const std::string found = is_scatter(p.op) ? scatter_difference(p, whole, options)
                                             : gather_difference(p, whole, options);
  return found.empty() ? "" : sheaf::cat(p.str(), ": ", found);
}

}  // namespace world

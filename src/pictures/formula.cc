// SPDX-License-Identifier: MIT
#include "pictures/formula.h"

#include <algorithm>
#include <vector>

#include "plan/vocabulary.h"
#include "support/text.h"

namespace sheaf::pictures {
namespace {

using Words = std::vector<std::string>;

// The names of the output's coordinates.
Words coordinates(int rank) {
  constexpr const char* kLetters = "ijklmnpq";
  Words words;
  for (int d = 0; d < rank; ++d) {
    words.push_back(rank <= 8 ? std::string(1, kLetters[d]) : cat("i", d));
  }
  return words;
}

std::string element(const std::string& tensor, const Words& position) {
  std::string text;
  for (const std::string& word : position) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return position.empty() ? tensor : tensor + "[" + text + "]";
}

Words slice(const Words& words, int64_t begin, int64_t end) {
  return {words.begin() + static_cast<ptrdiff_t>(begin),
          words.begin() + static_cast<ptrdiff_t>(end)};
}

Words joined(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Words gather_position(const Request& r, const Words& out) {
  const int64_t grid_end = r.axis + r.indices.rank() - r.batch_dims;
  const Words index = joined(slice(out, 0, r.batch_dims), slice(out, r.axis, grid_end));
  Words position = slice(out, 0, r.axis);
  position.push_back(element("indices", index));
  return joined(position, slice(out, grid_end, r.grid().rank()));
}

Words gather_elements_position(const Request& r, const Words& out) {
  Words index = out;
  Words position = out;
  for (int d = 0; r.broadcast && d < r.grid().rank(); ++d) {
    // A dimension of size 1 that is stretched has the one coordinate 0.
    if (r.grid().sizes[d] != 1) {
      index[static_cast<size_t>(d)] = r.indices.sizes[d] == 1 ? "0" : index[static_cast<size_t>(d)];
      position[static_cast<size_t>(d)] =
          r.data.sizes[d] == 1 ? "0" : position[static_cast<size_t>(d)];
    }
  }
  position[static_cast<size_t>(r.axis)] = element("indices", index);
  return position;
}

Words gather_nd_position(const Request& r, const Words& out) {
  const int64_t grid_end = r.indices.rank() - 1;
  const int64_t tuple = r.indices.sizes.back();
  Words position = slice(out, 0, r.batch_dims);
  for (int64_t c = 0; c < tuple; ++c) {
    position.push_back(element("indices", joined(slice(out, 0, grid_end), {std::to_string(c)})));
  }
  return joined(position, slice(out, grid_end, r.grid().rank()));
}

int64_t position_in(const Dims& dims, int64_t value) {
  const auto* found = std::find(dims.begin(), dims.end(), value);
  return found == dims.end() ? -1 : found - dims.begin();
}

Words xla_position(const Request& r, const Words& out) {
  const XlaGatherOptions& x = *r.xla;
  Words batch;
  for (int d = 0; d < r.grid().rank(); ++d) {
    if (position_in(x.offset_dims, d) < 0) {
      batch.push_back(out[static_cast<size_t>(d)]);
    }
  }
  const bool tuples = x.index_vector_dim < r.indices.rank();
  const auto start = [&](int64_t component) {
    Words index = batch;
    if (tuples) {
      index.insert(index.begin() + static_cast<ptrdiff_t>(x.index_vector_dim),
                   std::to_string(component));
    }
    return element("indices", index);
  };
  Words position;
  int offset = 0;
  for (int d = 0; d < r.data.rank(); ++d) {
    const int64_t batching = position_in(x.operand_batching_dims, d);
    const int64_t component = position_in(x.start_index_map, d);
    std::string term = component < 0 ? "" : start(component);
    if (batching >= 0) {
      const int64_t dim = x.start_indices_batching_dims[static_cast<int>(batching)];
      term = batch[static_cast<size_t>(dim - (tuples && dim > x.index_vector_dim ? 1 : 0))];
    } else if (position_in(x.collapsed_slice_dims, d) < 0) {
      term += (term.empty() ? "" : " + ") + out[static_cast<size_t>(x.offset_dims[offset++])];
    }
    position.push_back(term.empty() ? "0" : term);
  }
  return position;
}

Words data_position(const Request& r, const Words& out) {
  switch (r.op) {
    case Op::kGather:
    case Op::kScatter: return gather_position(r, out);
    case Op::kGatherElements:
    case Op::kScatterElements: return gather_elements_position(r, out);
    case Op::kGatherNd:
    case Op::kScatterNd: return gather_nd_position(r, out);
    case Op::kXlaGather:
    case Op::kXlaScatter: return xla_position(r, out);
  }
  return {};
}

std::string assignment_of(Reduction reduction) {
  if (reduction == Reduction::kNone) {
    return " = ";
  }
  const ReductionRow& row = *find_row(kReductions, reduction);
  return cat(" ", row.sign.empty() ? row.name : row.sign, "= ");
}

std::string formula_with(const Request& r, const Words& grid) {
  if (!is_scatter(r.op)) {
    return element("output", grid) + " = " + element("data", data_position(r, grid));
  }
  return element("output", data_position(r, grid)) + assignment_of(r.reduction) +
         element("updates", grid);
}

}  // namespace

std::string formula(const Request& r) { return formula_with(r, coordinates(r.grid().rank())); }

std::string formula_at(const Request& r, const Dims& position) {
  Words grid;
  for (const int64_t coordinate : position) {
    grid.push_back(std::to_string(coordinate));
  }
  return formula_with(r, grid);
}

std::string summary(Op op) {
  switch (op) {
    case Op::kGather: return "each index picks a whole slice of data along one axis";
    case Op::kGatherElements: return "each output element has an index of its own";
    case Op::kGatherNd: return "each tuple of indices picks an element or a slice of data";
    case Op::kXlaGather: return "each tuple of indices is where a window into data starts";
    case Op::kScatter: return "each index says where a slice of the updates goes along one axis";
    case Op::kScatterElements: return "each update has an index of its own";
    case Op::kScatterNd: return "each tuple of indices says where an element or a slice goes";
    case Op::kXlaScatter: return "each tuple of indices is where a window of updates starts";
  }
  return "";
}

}  // namespace sheaf::pictures

// SPDX-License-Identifier: MIT
//
// A thousand random graphs against plain loops over coordinates, written from the operators'
// definitions and sharing no code with the library.
#include <functional>
#include <random>

#include "compat/fluent.h"

using namespace compat;

namespace {

struct Value {
  Uints sizes;
  std::vector<int64_t> elements;  // row-major
};

size_t count_of(const Uints& sizes) {
  size_t count = 1;
  for (const UINT size : sizes) {
    count *= size;
  }
  return count;
}

size_t place(const Uints& sizes, const Uints& at) {
  size_t index = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    index = index * sizes[d] + at[d];
  }
  return index;
}

// A tensor by a rule for each coordinate.
Value make(const Uints& sizes, const std::function<int64_t(const Uints&)>& rule) {
  Value value{sizes, {}};
  Uints at(sizes.size(), 0);
  for (size_t i = 0, n = count_of(sizes); i < n; ++i) {
    size_t rest = i;
    for (size_t d = sizes.size(); d-- > 0;) {
      at[d] = static_cast<UINT>(rest % sizes[d]);
      rest /= sizes[d];
    }
    value.elements.push_back(rule(at));
  }
  return value;
}

UINT clamped(int64_t index, UINT size) {
  const int64_t from_end = index < 0 ? index + size : index;
  return static_cast<UINT>(std::clamp<int64_t>(from_end, 0, int64_t{size} - 1));
}

template <class T>
Bytes narrowed(const Value& value) {
  std::vector<T> elements;
  for (const int64_t element : value.elements) {
    elements.push_back(static_cast<T>(element));
  }
  return bytes_of(elements);
}

Bytes bytes_as(DML_TENSOR_DATA_TYPE type, const Value& value) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT32: return narrowed<float>(value);
    case DML_TENSOR_DATA_TYPE_FLOAT64: return narrowed<double>(value);
    case DML_TENSOR_DATA_TYPE_INT64: return narrowed<int64_t>(value);
    case DML_TENSOR_DATA_TYPE_INT16: return narrowed<int16_t>(value);
    case DML_TENSOR_DATA_TYPE_UINT8: return narrowed<uint8_t>(value);
    default: return narrowed<int32_t>(value);
  }
}

constexpr DML_TENSOR_DATA_TYPE kTypes[] = {
    DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT64, DML_TENSOR_DATA_TYPE_INT64,
    DML_TENSOR_DATA_TYPE_INT16,   DML_TENSOR_DATA_TYPE_UINT8,   DML_TENSOR_DATA_TYPE_INT32};
constexpr DML_TENSOR_DATA_TYPE kIndexTypes[] = {DML_TENSOR_DATA_TYPE_INT64,
                                                DML_TENSOR_DATA_TYPE_INT32};
constexpr size_t kMostElements = 600;  // per tensor, so that chains of tiles stay small

class RandomGraph {
 public:
  RandomGraph(Machine& machine, uint32_t seed)
      : machine_(machine), random_(seed), graph_(machine.dml.Get()) {
    for (int i = upto(3); i >= 1; --i) {
      Uints sizes;
      for (int d = upto(4); d >= 1; --d) {
        sizes.push_back(static_cast<UINT>(upto(4)));
      }
      const Value value = make(sizes, [&](const Uints&) { return upto(100); });
      const TensorDesc desc{any(kTypes), sizes};
      const auto index = static_cast<UINT>(inputs_.size());
      pool_.push_back({graph_.input(index, desc), value});
      inputs_.push_back(bytes_as(desc.type, value));
    }
  }

  void grow(int nodes) {
    while (nodes > 0) {
      const Item item = pool_[static_cast<size_t>(upto(static_cast<int>(pool_.size())) - 1)];
      const size_t before = pool_.size();
      switch (upto(11)) {
        case 1: transpose(item); break;
        case 2: add(compat::cast(item.x, any(kTypes)), item.value); break;
        case 3: gather(item); break;
        case 4: gather_elements(item); break;
        case 5: scatter_elements(item); break;
        case 6: gather_nd(item); break;
        case 7: tile(item); break;
        case 8: join(item); break;
        case 9: split(item); break;
        case 10: slice(item); break;
        default: pad(item); break;
      }
      nodes -= pool_.size() > before ? 1 : 0;
    }
  }

  // Compares some of the results.
  void check() {
    std::vector<Expression> outputs;
    std::vector<Bytes> expected;
    std::vector<UINT64> sizes;
    for (const Item& item : pool_) {
      const bool last = &item == &pool_.back();
      if (item.x.kind == Expression::kNode && (last || upto(3) == 1)) {
        outputs.push_back(item.x);
        expected.push_back(bytes_as(item.x.desc.type, item.value));
        sizes.push_back(item.x.desc.total);
      }
    }
    const auto compiled = graph_.compile(outputs);
    std::vector<Bytes> got = machine_.run(compiled.Get(), inputs_, sizes);
    for (size_t i = 0; i < got.size(); ++i) {
      got[i].resize(expected[i].size());  // sizes are rounded up to 4 bytes
      EXPECT_EQ(got[i], expected[i]) << "output " << i;
    }
  }

 private:
  struct Item {
    Expression x;
    Value value;
  };

  int upto(int most) { return std::uniform_int_distribution<int>(1, most)(random_); }
  template <class T, size_t N>
  T any(const T (&choices)[N]) {
    return choices[upto(static_cast<int>(N)) - 1];
  }
  UINT any_axis(const Value& value) {
    return static_cast<UINT>(upto(static_cast<int>(value.sizes.size())) - 1);
  }
  void add(const Expression& x, Value value) { pool_.push_back({x, std::move(value)}); }

  Expression constant(DML_TENSOR_DATA_TYPE type, const Value& value) {
    return graph_.constant(bytes_as(type, value), {type, value.sizes});
  }
  // Indices of an axis of `size`: some negative, some outside.
  Value indices(const Uints& sizes, UINT size) {
    return make(sizes, [&](const Uints&) {
      return upto(2 * static_cast<int>(size) + 4) - static_cast<int>(size) - 2;
    });
  }

  void transpose(const Item& item) {
    const size_t rank = item.value.sizes.size();
    Uints order(rank), sizes(rank), strides(rank), packed(rank, 1);
    for (size_t d = 0; d < rank; ++d) {
      order[d] = static_cast<UINT>(d);
    }
    for (size_t d = rank; d-- > 1;) {
      packed[d - 1] = packed[d] * item.value.sizes[d];
    }
    std::shuffle(order.begin(), order.end(), random_);
    for (size_t d = 0; d < rank; ++d) {
      sizes[d] = item.value.sizes[order[d]];
      strides[d] = packed[order[d]];
    }
    add(identity(reinterpret(item.x, sizes, strides)), make(sizes, [&](const Uints& at) {
          Uints from(rank);
          for (size_t d = 0; d < rank; ++d) {
            from[order[d]] = at[d];
          }
          return item.value.elements[place(item.value.sizes, from)];
        }));
  }

  void gather(const Item& item) {
    const UINT axis = any_axis(item.value);
    Uints index_sizes(item.value.sizes.size(), 1);
    index_sizes.back() = static_cast<UINT>(upto(5));
    const Value index = indices(index_sizes, item.value.sizes[axis]);
    Uints sizes = item.value.sizes;
    sizes[axis] = index_sizes.back();
    add(compat::gather(item.x, constant(any(kIndexTypes), index), axis, 1),
        make(sizes, [&](const Uints& at) {
          Uints from = at;
          from[axis] = clamped(index.elements[at[axis]], item.value.sizes[axis]);
          return item.value.elements[place(item.value.sizes, from)];
        }));
  }

  void gather_elements(const Item& item) {
    const UINT axis = any_axis(item.value);
    Uints sizes = item.value.sizes;
    sizes[axis] = static_cast<UINT>(upto(5));
    const Value index = indices(sizes, item.value.sizes[axis]);
    add(compat::gather_elements(item.x, constant(any(kIndexTypes), index), axis),
        make(sizes, [&](const Uints& at) {
          Uints from = at;
          from[axis] = clamped(index.elements[place(sizes, at)], item.value.sizes[axis]);
          return item.value.elements[place(item.value.sizes, from)];
        }));
  }

  void scatter_elements(const Item& item) {
    const UINT axis = any_axis(item.value);
    Uints sizes = item.value.sizes;
    sizes[axis] = static_cast<UINT>(upto(4));
    const Value index = indices(sizes, item.value.sizes[axis]);
    const Value updates = make(sizes, [&](const Uints&) { return upto(100); });
    Value result = item.value;
    make(sizes, [&](const Uints& at) {  // in row-major order: the last update wins
      Uints to = at;
      to[axis] = clamped(index.elements[place(sizes, at)], item.value.sizes[axis]);
      return result.elements[place(result.sizes, to)] = updates.elements[place(sizes, at)];
    });
    add(compat::scatter_elements(item.x, constant(any(kIndexTypes), index),
                                 constant(item.x.desc.type, updates), axis),
        result);
  }

  void gather_nd(const Item& item) {
    const Uints& from = item.value.sizes;
    if (from.size() < 2) {
      return;
    }
    // Whole tuples, in a grid of the same rank: its leading sizes are 1.
    Uints sizes(from.size(), 1);
    sizes[from.size() - 2] = static_cast<UINT>(upto(5));
    sizes.back() = static_cast<UINT>(from.size());
    Value tuples = make(sizes, [&](const Uints& at) {
      return int64_t{upto(static_cast<int>(from[at.back()]) + 2)} - 2;
    });
    Uints output(from.size(), 1);
    output.back() = sizes[from.size() - 2];
    add(compat::gather_nd(item.x, constant(any(kIndexTypes), tuples), output),
        make(output, [&](const Uints& at) {
          Uints where(from.size());
          for (size_t d = 0; d < from.size(); ++d) {
            where[d] = clamped(tuples.elements[at.back() * from.size() + d], from[d]);
          }
          return item.value.elements[place(from, where)];
        }));
  }

  void tile(const Item& item) {
    Uints repeats, sizes = item.value.sizes;
    for (UINT& size : sizes) {
      repeats.push_back(static_cast<UINT>(upto(3)));
      size *= repeats.back();
    }
    if (count_of(sizes) > kMostElements || item.x.desc.type == DML_TENSOR_DATA_TYPE_FLOAT64) {
      return;  // TILE takes no FLOAT64
    }
    add(compat::tile(item.x, repeats), make(sizes, [&](const Uints& at) {
          Uints from = at;
          for (size_t d = 0; d < from.size(); ++d) {
            from[d] %= item.value.sizes[d];
          }
          return item.value.elements[place(item.value.sizes, from)];
        }));
  }

  void join(const Item& item) {
    const UINT axis = any_axis(item.value);
    const auto parts = static_cast<UINT>(upto(3));
    Uints sizes = item.value.sizes;
    sizes[axis] *= parts;
    if (count_of(sizes) > kMostElements) {
      return;
    }
    add(compat::join(std::vector<Expression>(parts, item.x), axis),
        make(sizes, [&](const Uints& at) {
          Uints from = at;
          from[axis] %= item.value.sizes[axis];
          return item.value.elements[place(item.value.sizes, from)];
        }));
  }

  void split(const Item& item) {
    const UINT axis = any_axis(item.value);
    const UINT size = item.value.sizes[axis];
    if (size < 2) {
      return;
    }
    const auto first = static_cast<UINT>(upto(static_cast<int>(size) - 1));
    const auto parts = compat::split(item.x, {first, size - first}, axis);
    for (size_t i = 0; i < 2; ++i) {
      add(parts[i], make(parts[i].desc.sizes, [&](const Uints& at) {
            Uints from = at;
            from[axis] += i == 0 ? 0 : first;
            return item.value.elements[place(item.value.sizes, from)];
          }));
    }
  }

  void slice(const Item& item) {
    Uints offsets, window;
    Ints strides;
    for (const UINT size : item.value.sizes) {
      offsets.push_back(static_cast<UINT>(upto(static_cast<int>(size)) - 1));
      window.push_back(static_cast<UINT>(upto(static_cast<int>(size - offsets.back()))));
      strides.push_back(any({1, 2, 3, -1, -2}));
    }
    const Expression result = compat::slice(item.x, offsets, window, strides);
    add(result, make(result.desc.sizes, [&](const Uints& at) {
          Uints from = at;
          for (size_t d = 0; d < from.size(); ++d) {
            const int64_t start = strides[d] < 0 ? offsets[d] + window[d] - 1 : offsets[d];
            from[d] = static_cast<UINT>(start + int64_t{at[d]} * strides[d]);
          }
          return item.value.elements[place(item.value.sizes, from)];
        }));
  }

  void pad(const Item& item) {
    const auto mode = static_cast<DML_PADDING_MODE>(upto(5) - 1);
    Uints start, end, sizes = item.value.sizes;
    for (UINT& size : sizes) {
      start.push_back(static_cast<UINT>(upto(4) - 1));
      end.push_back(static_cast<UINT>(upto(4) - 1));
      size += start.back() + end.back();
    }
    if (count_of(sizes) > kMostElements) {
      return;
    }
    add(compat::pad(item.x, mode, 7, start, end), make(sizes, [&](const Uints& at) -> int64_t {
          Uints from = at;
          for (size_t d = 0; d < from.size(); ++d) {
            const int64_t found = padded(mode, int64_t{at[d]} - start[d], item.value.sizes[d]);
            if (found < 0) {
              return 7;
            }
            from[d] = static_cast<UINT>(found);
          }
          return item.value.elements[place(item.value.sizes, from)];
        }));
  }

  // Step by step: walks from the nearest element to the place, turning around at the ends.
  static int64_t padded(DML_PADDING_MODE mode, int64_t at, int64_t size) {
    if (at >= 0 && at < size) {
      return at;
    }
    switch (mode) {
      case DML_PADDING_MODE_CONSTANT: return -1;
      case DML_PADDING_MODE_EDGE: return at < 0 ? 0 : size - 1;
      case DML_PADDING_MODE_WRAP: return padded(mode, at < 0 ? at + size : at - size, size);
      case DML_PADDING_MODE_SYMMETRIC:
        return padded(mode, at < 0 ? -at - 1 : 2 * size - 1 - at, size);
      default:  // mirrored at the end elements; one alone repeats
        return size == 1 ? 0 : padded(mode, at < 0 ? -at : 2 * size - 2 - at, size);
    }
  }

  Machine& machine_;
  std::mt19937 random_;
  Graph graph_;
  std::vector<Item> pool_;
  std::vector<Bytes> inputs_;
};

TEST(RandomGraphs, AreRight) {
  const long before = SheafLiveObjects();
  {
    Machine machine;
    for (uint32_t seed = 0; seed < 1000 && !HasFailure(); ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      try {
        RandomGraph graph(machine, seed);
        graph.grow(1 + static_cast<int>(seed % 8));
        graph.check();
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
  EXPECT_EQ(SheafLiveObjects(), before);
}

}  // namespace

// SPDX-License-Identifier: MIT
#include "graph_layout.h"

#include <algorithm>
#include <map>

#include "frontends/directml/refusal.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::dml_com {
namespace {

constexpr UINT64 kMostBytes = UINT64{1} << 62;  // of the temporary resource

// Where a tensor at `offset` ends, rounded up so that another can follow. Offsets are rounded
// too, so one that ends at most there ends at most where the next one starts.
UINT64 end_of(UINT64 offset, UINT64 bytes) {
  constexpr UINT64 kAlignment = DML_TEMPORARY_BUFFER_ALIGNMENT;
  const auto end = checked_add(offset, bytes);
  const auto rounded = end ? checked_round_up(*end, kAlignment) : std::nullopt;
  if (!rounded || *rounded > kMostBytes) {
    refuse_graph("tensors too large", "the intermediate tensors need more than 2^62 bytes",
                 "smaller tensors");
  }
  return *rounded;
}

}  // namespace

void refuse_graph(const std::string& what, const std::string& detail, const std::string& next) {
  dml::detail::refuse({.who = "CompileGraph",
                       .what = what,
                       .detail = detail,
                       .given = "DML_GRAPH_DESC",
                       .next = next});
}

// Nodes whose inputs are all there come first; what is left at the end waits for itself.
std::vector<size_t> run_order(const std::vector<Node>& nodes) {
  std::vector<size_t> order;
  std::vector<size_t> missing(nodes.size(), 0);
  std::vector<std::vector<size_t>> readers(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (const Source& source : nodes[n].inputs) {
      if (source.kind == Source::kNode) {
        ++missing[n];
        readers[source.index].push_back(n);
      }
    }
  }
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (missing[n] == 0) {
      order.push_back(n);
    }
  }
  for (size_t done = 0; done < order.size(); ++done) {
    for (const size_t reader : readers[order[done]]) {
      if (--missing[reader] == 0) {
        order.push_back(reader);
      }
    }
  }
  if (order.size() != nodes.size()) {
    refuse_graph("cycle", cat(nodes.size() - order.size(), " nodes wait for their own results"),
                 "edges that lead forward only");
  }
  return order;
}

// First fit: a tensor takes the lowest place that no tensor has that is still needed.
UINT64 place_temporaries(std::vector<Node>& nodes, const std::vector<size_t>& order) {
  UINT64 bytes = 0;
  std::vector<size_t> position(nodes.size());
  for (size_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    for (const Source& source : nodes[order[i]].inputs) {
      if (source.kind == Source::kNode) {
        size_t& last = nodes[source.index].outputs[source.output].last_use;
        last = std::max(last, i);
      }
    }
  }
  std::multimap<UINT64, const Storage*> taken;  // by offset
  for (const size_t n : order) {
    if (nodes[n].is_constant()) {
      continue;
    }
    for (Storage& storage : nodes[n].outputs) {
      if (storage.graph_output) {
        continue;
      }
      storage.last_use = std::max(storage.last_use, position[n]);
      std::erase_if(taken, [&](const auto& entry) { return entry.second->last_use < position[n]; });
      UINT64 at = 0;
      for (const auto& [offset, other] : taken) {
        if (end_of(at, storage.bytes) <= offset) {
          break;
        }
        at = std::max(at, end_of(offset, other->bytes));
      }
      storage.offset = at;
      taken.emplace(at, &storage);
      bytes = std::max(bytes, end_of(at, storage.bytes));
    }
  }
  return bytes;
}

}  // namespace sheaf::dml_com

// SPDX-License-Identifier: MIT
#include "pictures/table_picture.h"

#include <algorithm>
#include <unordered_set>

#include "pictures/svg.h"
#include "plan/lower.h"
#include "plan/scalar.h"
#include "support/text.h"

namespace sheaf::pictures {
namespace {

// Rows of a piece that are the same are fetched once, from this size on.
constexpr int64_t kDistinctFrom = 32;

// The picture's rows: which each output row is, where it comes by, and the rows that are there.
struct Route {
  std::vector<int64_t> rows;                 // of each output row; kFilled
  std::vector<std::vector<int64_t>> pieces;  // rows that travel
  std::unordered_set<int64_t> cached;
};

bool travels_in_pieces(const Journey& j, std::string_view way) {
  return way == "ring" || way == "download" || (way == "file" && j.to != kHostPlace);
}

Route route_of(const Scene& scene, const Journey& j, std::string_view way, int64_t elements) {
  Route route;
  for (size_t e = 0; e < scene.map.size();
       e += static_cast<size_t>(std::max<int64_t>(elements, 1))) {
    const int64_t at = scene.map[e].data;
    route.rows.push_back(at == kFilled ? kFilled : at / elements);
  }
  if (!travels_in_pieces(j, way)) {
    return route;
  }
  if (is_device(j.to)) {
    route.cached.insert(j.cached_rows.begin(), j.cached_rows.end());
  }
  const int64_t count = std::ssize(route.rows);
  const int64_t size = j.piece_rows > 0 ? j.piece_rows : std::max<int64_t>(count, 1);
  const bool once = scene.plan.nest().row_bytes >= kDistinctFrom || !route.cached.empty();
  for (int64_t first = 0; first < count; first += size) {
    std::vector<int64_t> piece;
    for (int64_t o = first; o < std::min(first + size, count); ++o) {
      const int64_t row = route.rows[static_cast<size_t>(o)];
      const bool seen = once && std::find(piece.begin(), piece.end(), row) != piece.end();
      if (row != kFilled && !route.cached.contains(row) && !seen) {
        piece.push_back(row);
      }
    }
    route.pieces.push_back(std::move(piece));
  }
  return route;
}

// "output[0] = table[4]: …, one after the other."
std::string sentence(const Scene& scene, const Journey& j, std::string_view way,
                     const Route& route) {
  const auto picked = std::find_if(route.rows.begin(), route.rows.end(),
                                   [](int64_t row) { return row != kFilled; });
  if (picked == route.rows.end()) {
    return "";
  }
  const int64_t o = picked - route.rows.begin();
  const int64_t piece = j.piece_rows > 0 ? o / j.piece_rows : 0;
  const Dims where = position_of(o, scene.plan.request().indices.sizes);
  std::string how;
  if (route.cached.contains(*picked)) {
    how = cat("it is in the cache of ", j.to);
  } else if (way == "host") {
    how = "read where it lies";
  } else if (way == "device") {
    how = cat("read where it lies, by a kernel of ", j.to);
  } else if (way == "mapped") {
    how = cat("a kernel of ", j.to, " reads it over the bus");
  } else if (way == "download") {
    how = cat("gathered on ", j.from, " into piece ", piece, ", copied to the host");
  } else if (way == "file" && j.to == kHostPlace) {
    how = "read from the file into its place";
  } else {
    how = cat(way == "file" ? "read" : "fetched by host threads", " into piece ", piece,
              ", copied to ", j.to, ", put into its place there");
  }
  return cat("\nfor example  output", bracketed(where), " = table[", *picked, "]: ", how, "\n");
}

}  // namespace

std::string draw_table(const Scene& scene, const Journey& j, const Style& style) {
  const Request& r = scene.plan.request();
  const int64_t entries = std::max<int64_t>(r.data.sizes[0], 1);
  const int64_t elements = element_count(r.data.sizes) / entries;
  const std::string_view way = chosen_way(j, scene.plan.nest().row_bytes);
  const Route route = route_of(scene, j, way, elements);
  const Labels labels(r.data, scene.data, style.color);
  const std::unordered_set<int64_t> used(route.rows.begin(), route.rows.end());
  std::vector<Grid> grids;
  grids.push_back(
      {cat("table ", shape_text(r.data), ", ", lies_in(j.from)), r.data.sizes, [&](int64_t e) {
         const int64_t row = e / elements;
         return Cell{labels.of(e), used.contains(row) ? row : kFaint};
       }});
  grids.push_back(indices_grid(scene, Colors(r)));
  // A grid of rows of the table, in the table's shape.
  const auto rows_grid = [&](const std::string& title, const std::vector<int64_t>& rows) {
    Dims sizes = r.data.sizes;
    sizes[0] = int64_t{std::ssize(rows)};
    grids.push_back({title, sizes, [&labels, &rows, elements](int64_t e) {
                       const int64_t row = rows[static_cast<size_t>(e / elements)];
                       return Cell{labels.of(row * elements + e % elements), row};
                     }});
  };
  const std::string piece_place = way == "download" ? j.from : std::string(kHostPlace);
  for (size_t i = 0; i < route.pieces.size(); ++i) {
    rows_grid(cat("piece ", i, ", ", piece_place), route.pieces[i]);
  }
  if (!route.cached.empty()) {
    rows_grid(cat("cache, ", j.to), j.cached_rows);
  }
  grids.push_back(
      {cat("output ", shape_text(r.output), ", ", j.to), r.output.sizes, [&](int64_t e) {
         const int64_t row = route.rows[static_cast<size_t>(e / elements)];
         return row == kFilled ? Cell{to_string(r.rule.fill_value), kFill}
                               : Cell{labels.of(row * elements + e % elements), row};
       }});
  return draw(grids, style) + sentence(scene, j, way, route);
}

std::string table_svg(const Scene& scene, const Journey& j) {
  constexpr Style kTableStyle{true, 150};
  return svg_of(cat("table   ", journey_text(j, scene.plan.nest().row_bytes), "\n\n",
                    draw_table(scene, j, kTableStyle)));
}

}  // namespace sheaf::pictures

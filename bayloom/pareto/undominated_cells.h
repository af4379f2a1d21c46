// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <span>
#include <vector>

#include "bayloom/pareto/front.h"

namespace bayloom::pareto {

/// What a front of two or three objectives does not dominate, on this side of a reference point, as
/// boxes that do not overlap: at most n + 1 of them for two objectives and (n + 1)(n + 2) / 2 for
/// three.
struct UndominatedCells {
  /// A box: from edges[k][lower[k]] to edges[k][upper[k]] in objective k.
  struct Cell {
    std::array<int, 3> lower = {};
    std::array<int, 3> upper = {};
  };

  /// For each objective -infinity, the front's values in ascending order, and the reference.
  std::vector<std::vector<double>> edges;
  std::vector<Cell> cells;
};

/// Points that are not better than the reference in every objective are left out.
UndominatedCells MakeUndominatedCells(std::span<const Point> points,
                                      std::span<const double> reference);

}  // namespace bayloom::pareto

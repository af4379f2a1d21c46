// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bayloom/graph/length.h"

namespace bayloom::graph {

/// Lengths of all symbols, in their order.
using SymbolValues = std::vector<int64_t>;

/// Of how many symbols, the first ones, polynomials are sampled: of those that a user gives, and of
/// few that are found. The points for these grow with their square; further symbols have other
/// lengths at other points, all at once.
size_t SampledCount(std::span<const Symbol> symbols);

/// Where polynomials of at most the second degree are sampled: the largest lengths, then all that
/// are one or two steps away in all: below, or above where there are too few values.
std::vector<SymbolValues> SamplePoints(std::span<const Symbol> symbols);

/// The polynomial that has these values at the sample points.
Length FitLength(std::span<const Symbol> symbols, std::span<const int64_t> values);

/// Further points, which tell lengths apart that are quotients rounded down: lengths that follow
/// each other, all symbols at once, and random ones among the larger half.
std::vector<SymbolValues> PointsBetween(std::span<const Symbol> symbols);

/// Further points, at which less and less is found: the others of half of what is largest, a
/// quarter and so on. Only they tell what is the smaller one of a number and of what is found.
std::vector<SymbolValues> PointsOfFewFound(std::span<const Symbol> symbols);

/// Where to see whether what was made of the samples holds: the smallest lengths, those next to
/// them, some at random and, per symbol, one step beyond the samples.
std::vector<SymbolValues> PointsToConfirm(std::span<const Symbol> symbols, int random_points = 2);

/// The smallest and largest lengths of the symbols that a user gives, of at most six all
/// combinations, and some at random; those that are found are as long as they can be.
std::vector<SymbolValues> CornersOf(std::span<const Symbol> symbols);

/// The symbols with multiples of `step` in place of all lengths, where there are enough of these.
std::vector<Symbol> WithMultiples(std::span<const Symbol> symbols, int64_t step);

}  // namespace bayloom::graph

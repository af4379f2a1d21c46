// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/mapspace/encoding.h"

namespace bayloom::mapspace {

/// Writes the loop orders that parameters stand for into a mapping.
class OrderCoder {
 public:
  virtual ~OrderCoder() = default;
  /// The values of its parameters, in the order they were added.
  virtual void Apply(std::span<const space::Value> values, Mapping& mapping) const = 0;
  /// The values that stand for a mapping's orders.
  virtual void AppendValues(const Mapping& mapping, std::vector<space::Value>& values) const = 0;
};

/// The loops of a level whose order is open, by dimension.
struct OpenLevel {
  int level;
  std::vector<int> loops;
};

/// The levels with more than one loop to order; loops that never run more than once are left out.
std::vector<OpenLevel> OpenLevels(const Mapspace& mapspace);
/// Sets the order of a level's open loops, innermost first; the others stay inside of them.
void SetOpenOrder(const Mapspace& mapspace, const OpenLevel& open, std::span<const int> order,
                  Mapping& mapping);
/// The open loops as a mapping orders them, innermost first.
std::vector<int> OpenOrder(const OpenLevel& open, const Mapping& mapping);
/// What a parameter for the order of the level is called.
std::string OrderName(const Mapspace& mapspace, const OpenLevel& open);

/// "permutation".
std::unique_ptr<OrderCoder> MakePermutationCoder(const Mapspace& mapspace,
                                                 space::Space::Builder& builder);
/// "ranking".
std::unique_ptr<OrderCoder> MakeRankingCoder(const Mapspace& mapspace,
                                             space::Space::Builder& builder);

}  // namespace bayloom::mapspace

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>

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

/// Adds its parameters to the space.
std::unique_ptr<OrderCoder> MakeOrderCoder(OrderEncoding encoding, const Mapspace& mapspace,
                                           space::Space::Builder& builder);

}  // namespace bayloom::mapspace

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <optional>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// A factor of a product's terms: an element of a float32 tensor, or padding where a condition on
/// indices does not hold.
struct FloatFactor {
  tensor::Expr load;
  tensor::Expr condition = {};  ///< undefined: always the element
  tensor::Expr padding = {};    ///< a literal

  /// The factor in float32 that reads this value in place of its own, which is of the same shape
  /// and of this type.
  tensor::Expr Reading(ValueId value, tensor::DType dtype) const;
};

/// The two factors of the terms that a convolution or matrix product adds up; nullopt for other
/// nodes.
std::optional<std::array<FloatFactor, 2>> AsFloatProduct(const Node& node);

}  // namespace bayloom::graph

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/plan/memory_plan.h"

namespace bayloom::plan {

/// A condition on indices without which a reduction's value changes nothing: padding's zeros in a
/// sum of products.
struct Guard {
  const tensor::ExprNode* condition;
  tensor::Affine slack;  ///< the condition holds where this is at least 0
};

/// The guard that a comparison of affine indices is; nullopt for other expressions.
std::optional<Guard> ToGuard(const tensor::ExprNode& comparison, const BlockAccesses& accesses);

/// All guards of a reduction block. Where one does not hold, the block's value is the neutral
/// element of the reduction, so that its evaluation can be left out. A product with a zero counts
/// as zero, for any other factor.
std::vector<Guard> GuardsOf(const tensor::Block& block, const BlockAccesses& accesses);

}  // namespace bayloom::plan

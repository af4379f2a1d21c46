// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/graph/evaluate.h"

namespace bayloom::graph {

/// Evaluates a stage that only moves elements of one tensor to other places, each index affine
/// and proven in range: transpositions, slices, broadcasts. Transposing a large matrix goes tile
/// by tile, so that neither side is walked across the cache. nullopt for any other stage.
std::optional<tensor::HostTensor> CopyStage(const tensor::Stage& stage,
                                            const TensorLookup& operands);

/// The place of a load's element in its row-major tensor as a linear form over the stage's
/// iterators, if every index is linear and stays in range over the whole domain.
std::optional<tensor::LinearForm> ProvenOffset(const tensor::Stage& stage,
                                               const tensor::ExprNode& load,
                                               const std::vector<int64_t>& shape);

}  // namespace bayloom::graph

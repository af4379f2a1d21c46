// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/mapspace/fused/fused_network.h"

namespace bayloom::graph {
struct Graph;
}  // namespace bayloom::graph

namespace bayloom::tuning {

/// A graph, as ImportOnnx gives it, as operators that can be computed tile by tile: convolutions
/// and matrix products as LayersOf has them, pools, and what else combines several tensors or
/// reduces one. Neighbours of this last kind are one operator where they read only its
/// inputs and each other: a softmax, a sum of branches with the normalization behind it.
///
/// Everything else is part of how an operator reads its operands: what depends on one tensor
/// element by element (activations, biases, padding), moves elements about (transpositions, slices,
/// concatenations), or is constant.
mapspace::FusedNetwork FusedLayersOf(const graph::Graph& graph);

}  // namespace bayloom::tuning

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/mapspace/problem.h"

namespace bayloom::graph {
struct Graph;
}  // namespace bayloom::graph

namespace bayloom::tuning {

/// A layer of a network as an accelerator sees it.
struct NetworkLayer {
  std::string name;  ///< where in the model its first occurrence is
  mapspace::Problem problem;
  int count = 1;  ///< layers of the network that are this problem
};

/// The convolutions and matrix products of a graph as ImportOnnx gives it, each distinct problem
/// once, in the network's order. Everything else (pools, activations, normalizations) multiplies
/// little or nothing and is left out.
///
/// Dimensions are called as in Timeloop: R, S (kernel), P, Q (output), C, M (channels), N (batch)
/// of convolutions, I, J, K of matrix products, G of groups and B of batches of products.
std::vector<NetworkLayer> LayersOf(const graph::Graph& graph);

}  // namespace bayloom::tuning

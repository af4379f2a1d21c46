// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/mapspace/formats/layer_list.h"
#include "bayloom/mapspace/fused/fused_network.h"
#include "bayloom/mapspace/problem.h"

namespace bayloom::graph {
struct Graph;
struct Node;
}  // namespace bayloom::graph

namespace bayloom::accelerator {

/// A layer of a network as an accelerator sees it.
struct NetworkLayer {
  std::string name;  ///< where in the model its first occurrence is
  mapspace::Problem problem;
  int count = 1;  ///< layers of the network that are this problem
};

/// A node as the problem that a mapper solves.
struct NodeProblem {
  mapspace::Problem problem;
  std::vector<int> dimension;  ///< of every iterator of the node's stage; -1: a batch of one
  int inputs = -1;             ///< the graph's value that the problem calls "Inputs"
  int weights = -1;
};

/// Nullopt for a node that is no convolution or matrix product, or has more dimensions than a
/// mapping can have. Names are those of LayersOf.
std::optional<NodeProblem> ProblemOf(const graph::Graph& graph, const graph::Node& node);

/// The convolutions and matrix products of a graph as ImportOnnx gives it, each distinct problem
/// once, in the network's order. Everything else (pools, activations, normalizations) multiplies
/// little or nothing and is left out.
///
/// Dimensions are called as in Timeloop: R, S (kernel), P, Q (output), C, M (channels), N (batch)
/// of convolutions, I, J, K of matrix products, G of groups and B of batches of products.
std::vector<NetworkLayer> LayersOf(const graph::Graph& graph);

/// The layers of a file that lists them, each distinct problem once, in its order.
std::vector<NetworkLayer> LayersOf(std::vector<mapspace::NamedProblem> layers);

/// The products of a network that can be fused, each distinct problem once, in its order.
std::vector<NetworkLayer> LayersOf(const mapspace::FusedNetwork& network);

}  // namespace bayloom::accelerator

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>
#include <string>
#include <vector>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// The type that a network's matrix products and convolutions read. With all of them they sum up in
/// float32, and everything else computes in float32.
struct Precision {
  /// float32, tf32, float16 or bfloat16. With float32 the values are as the model has them;
  /// constants that it has in a narrow type are stored in that.
  tensor::DType dtype = tensor::DType::kFloat32;
  /// Products (ProductNames) that read float32 all the same.
  std::set<std::string> kept = {};
};

/// Per node: the name of the product that it is, different from those of all others; empty where it
/// is none that LowerPrecision can change.
std::vector<std::string> ProductNames(const Graph& graph);

/// A pass between Simplify and ArrangeMemory (graph/passes/passes.h): what products read is stored
/// in the narrow type, constants and computed values alike, rounded to nearest even. So is what
/// lies between them and is only moved about, or compared for its maximum. Inputs and outputs of
/// the graph, results of library kernels and what a product that is kept reads stay float32; where
/// a product wants to read such a value, it reads a copy.
void LowerPrecision(Graph& graph, const Precision& precision);

}  // namespace bayloom::graph

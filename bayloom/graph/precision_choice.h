// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/graph/precision.h"

namespace bayloom::graph {

/// A product that stays in float32.
struct KeptProduct {
  std::string name;
  /// The largest error of its own result with narrow operands, over the largest element.
  double error = 0;
};

/// How far a network with narrow products is from itself in float32: the largest difference of an
/// output's elements over the largest element of that output, on generated inputs. Infinite where
/// a result is not finite.
struct PrecisionChoice {
  tensor::DType dtype = tensor::DType::kFloat32;
  int products = 0;               ///< that could read narrow values
  double error = 0;               ///< of the network with those that do
  double error_without_kept = 0;  ///< of the network if all did
  std::vector<KeptProduct> kept;  ///< those that do not, the worst first

  Precision precision() const;
};

struct PrecisionRequest {
  tensor::DType dtype = tensor::DType::kBFloat16;
  double tolerance = 0;  ///< of PrecisionChoice::error
  uint64_t seed = 0;     ///< of the inputs
};

/// Decides which products may read narrow values so that the network's error is within the
/// tolerance. If all may not, the error that each product has by itself is measured, and as few as
/// suffice are kept in float32, the worst first. `graph` is one that Simplify has seen. Networks
/// are compiled without tuning and run on this machine.
PrecisionChoice ChoosePrecision(const Graph& graph, const PrecisionRequest& request);

/// By node of the graph: the error that narrow operands cause in the product (KeptProduct::error);
/// 0 where the node is none.
std::vector<double> ProductErrors(const Graph& graph, const PrecisionRequest& request);

}  // namespace bayloom::graph

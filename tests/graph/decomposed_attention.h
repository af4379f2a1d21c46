// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "bayloom/graph/builder.h"
#include "bayloom/graph/graph.h"

namespace bayloom::graph {

enum class AttentionMask {
  kNone,
  kAdded,          ///< an input per batch and key
  kCausal,         ///< by position: queries see keys up to their own
  kWindow,         ///< by position: queries see the last `window` keys up to their own
  kConstant,       ///< the causal one as a constant of truth values
  kAddedConstant,  ///< the causal one as a constant of 0 and `hidden`
  kCausalAndAdded,
};

/// Attention in single nodes, as exporters write it. Queries, keys and values have their positions
/// before or behind their heads.
struct DecomposedAttention {
  int64_t batch = 1, heads = 2, group = 1, queries = 20, keys = 24, size = 8, channels = 8;
  bool positions_first = false;
  AttentionMask mask = AttentionMask::kNone;
  double hidden = -std::numeric_limits<double>::infinity();  ///< the score of hidden keys
  int64_t window = 0;

  /// With inputs q, k, v, and the added mask; with the weights as a second output, if asked for.
  Graph Build(bool with_weights = false) const;

 private:
  std::vector<int64_t> Shape(int64_t count, int64_t positions, int64_t width) const;
  tensor::Expr At(const tensor::Tensor& x, const tensor::Expr& b, const tensor::Expr& h,
                  const tensor::Expr& p, const tensor::Expr& c) const;
  tensor::Tensor Masked(GraphBuilder& b, const tensor::Tensor& scores) const;
  tensor::Tensor ConstantMask(GraphBuilder& b) const;
};

}  // namespace bayloom::graph

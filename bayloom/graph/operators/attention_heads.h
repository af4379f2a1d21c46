// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

/// Queries, keys or values of all heads, as [batch, heads, positions, size] or, where positions
/// come first, [batch, positions, heads, size].
struct Heads {
  tensor::Tensor data;
  bool positions_first = false;

  int64_t batch() const { return data.shape()[0]; }
  int64_t count() const { return data.shape()[positions_first ? 2 : 1]; }
  int64_t positions() const { return data.shape()[positions_first ? 1 : 2]; }
  int64_t size() const { return data.shape()[3]; }
  tensor::Expr At(const tensor::Expr& batch, const tensor::Expr& head, const tensor::Expr& position,
                  const tensor::Expr& channel) const {
    return positions_first ? data(batch, position, head, channel)
                           : data(batch, head, position, channel);
  }
};

/// [batch, positions, heads * size] as heads; refuses what does not divide.
Heads SplitHeads(OperatorContext& context, const tensor::Tensor& x, int64_t heads);
/// A tensor [batch, heads, positions, size]; refuses other ranks.
Heads AsHeads(OperatorContext& context, const tensor::Tensor& x);
/// The heads as [batch, heads, positions, size].
tensor::Tensor HeadsFirst(OperatorContext& context, const Heads& x);
/// The earlier positions, then the new ones; `past` is [batch, heads, positions, size].
Heads Append(OperatorContext& context, const std::optional<tensor::Tensor>& past, const Heads& x);

/// Where a score stands.
struct ScorePlace {
  tensor::Expr batch, head, query, key;
};
using ScoreTerm = std::function<tensor::Expr(const ScorePlace&)>;

struct AttentionOptions {
  double scale = 1;                      ///< of the products of queries and keys
  double softcap = 0;                    ///< c > 0: scores are c * tanh(score / c)
  std::vector<ScoreTerm> biases;         ///< floats, added to the scores
  std::vector<ScoreTerm> conditions;     ///< bools: only keys for which all hold are seen
  std::optional<tensor::DType> softmax;  ///< type of the softmax; float32 at least if not given
  /// Logits per head that take part in the softmax without a value, [heads]; or 0 for each head.
  std::optional<tensor::Tensor> sink;
  bool zero_sink = false;
};

/// Scores and probabilities are [batch, heads, queries, keys].
struct AttentionResult {
  tensor::Tensor scores;         ///< products times the scale
  tensor::Tensor capped;         ///< after the soft cap
  tensor::Tensor biased;         ///< with biases; minus infinity for keys that are not seen
  tensor::Tensor probabilities;  ///< after the softmax; 0 where a query sees no key
  Heads output;
};

/// softmax(q * k' * scale + biases) * v. Queries may have a multiple of the heads of keys and
/// values: head h of the queries reads head h / multiple (Ainslie et al. 2023).
AttentionResult ComputeAttention(OperatorContext& context, const Heads& q, const Heads& k,
                                 const Heads& v, const AttentionOptions& options);
/// The output as [batch, positions, heads * size].
tensor::Tensor JoinHeads(OperatorContext& context, const Heads& x);

/// Key `key` is seen by query `query` if key <= query + offset.
ScoreTerm CausalCondition(int64_t offset);
/// The element of a mask or bias of at most 4 dimensions that broadcasts to the scores' shape.
tensor::Expr MaskAt(const tensor::Tensor& mask, const ScorePlace& at);
/// Refuses a mask that does not broadcast to [batch, heads, queries, keys].
void CheckMask(OperatorContext& context, const tensor::Tensor& mask, const Heads& q,
               const Heads& k);

/// Rotates pairs of channels by position-dependent angles (Su et al. 2021). `angle` gives the
/// indices into the caches, which are [..., rotated / 2], for a batch and a position.
struct Rotation {
  tensor::Tensor cosines, sines;
  std::function<Exprs(const tensor::Expr& batch, const tensor::Expr& position)> row;
  int64_t rotated = 0;       ///< channels that take part, from the first on; 0: all
  bool interleaved = false;  ///< pairs are neighbours, not halves apart
};
Heads Rotate(OperatorContext& context, const Heads& x, const Rotation& rotation);

}  // namespace bayloom::graph

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Sums of word, position and segment embeddings, normalized; rotary position embeddings.
#include <fmt/format.h>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/attention_heads.h"
#include "bayloom/graph/operators/microsoft.h"

namespace bayloom::graph::microsoft {
namespace {

using tensor::Expr;

/// Reads table rows: those of an input number, dequantized where that is needed.
using Rows = std::function<tensor::Tensor(int table, const tensor::Tensor& indices)>;

/// The input numbers of both operators that do this, and what differs between them.
struct EmbeddingInputs {
  int mask;
  int position_ids;  ///< -1: positions count from 0
  Rows rows;
  tensor::Tensor gamma, beta;
};

/// word[ids] + position[positions] + segment[segments].
tensor::Tensor EmbeddingSum(OperatorContext& context, const EmbeddingInputs& in) {
  const tensor::Tensor ids = context.Input(0);
  if (Rank(ids) != 2) context.Refuse("input_ids needs 2 dimensions");
  const int64_t length = ids.shape()[1];
  tensor::Tensor positions =
      context.builder().Map("positions", {1, length}, [](const Exprs& s) { return s[1]; });
  if (in.position_ids >= 0 && context.HasInput(in.position_ids)) {
    positions = context.Input(in.position_ids);
  }
  tensor::Tensor sum = ApplyOperator(context, "Add", {in.rows(2, ids), in.rows(3, positions)});
  if (context.HasInput(1)) sum = ApplyOperator(context, "Add", {sum, in.rows(4, context.Input(1))});
  if (Rank(sum) != 3 || sum.shape()[0] != ids.shape()[0] || sum.shape()[1] != length) {
    context.Refuse("the indices do not fit together");
  }
  return sum;
}

/// How many elements of each row of the mask are 1; 0 without a mask.
tensor::Tensor MaskIndex(OperatorContext& context, int mask) {
  const std::vector<int64_t> batch = {context.Input(0).shape()[0]};
  if (!context.HasInput(mask)) return Filled(context, 0, tensor::DType::kInt32, batch);
  if (Rank(context.Input(mask)) != 2) context.Refuse("the mask needs 2 dimensions");
  return ReduceAxes(context, "mask.index", context.Input(mask), {1}, tensor::Reduction::kSum,
                    [](const Expr& e) {
                      return tensor::Select(tensor::Equal(e, LiteralLike(1, e)),
                                            tensor::IntLiteral(1, tensor::DType::kInt32),
                                            tensor::IntLiteral(0, tensor::DType::kInt32));
                    });
}

void NormalizedEmbedding(OperatorContext& context, const EmbeddingInputs& in) {
  const tensor::Tensor sum = EmbeddingSum(context, in);
  const double epsilon = context.Float("epsilon", 1e-12f);
  context.SetOutput(0, ApplyOperator(context, "LayerNormalization", {sum, in.gamma, in.beta},
                                     {{{"axis", int64_t{-1}}, {"epsilon", epsilon}}}));
  if (context.WantsOutput(1)) context.SetOutput(1, MaskIndex(context, in.mask));
  if (context.WantsOutput(2)) context.SetOutput(2, sum);
}

void EmbedLayerNormalization(OperatorContext& context) {
  const Rows rows = [&](int table, const tensor::Tensor& indices) {
    return ApplyOperator(context, "Gather", {context.Input(table), indices});
  };
  NormalizedEmbedding(context, {7, 8, rows, context.Input(5), context.Input(6)});
}

/// Scales are inputs 8 to 12 and zero points 13 to 17 for the tables (inputs 2 to 4), gamma (5)
/// and beta (6).
void QEmbedLayerNormalization(OperatorContext& context) {
  const auto dequantized = [&](int quantized, const tensor::Tensor& x) {
    return ApplyOperator(context, "DequantizeLinear",
                         {x, context.Input(quantized + 6), OptionalInput(context, quantized + 11)});
  };
  const Rows rows = [&](int table, const tensor::Tensor& indices) {
    return dequantized(table, ApplyOperator(context, "Gather", {context.Input(table), indices}));
  };
  NormalizedEmbedding(
      context, {7, -1, rows, dequantized(5, context.Input(5)), dequantized(6, context.Input(6))});
}

/// The heads of [batch, positions, channels]: their number, or their size from the caches.
Heads RotaryHeads(OperatorContext& context, const tensor::Tensor& x, int64_t half) {
  if (Rank(x) == 4) return AsHeads(context, x);
  int64_t heads = context.Int("num_heads", 0);
  if (heads == 0) {
    if (Rank(x) != 3 || half < 1) context.Refuse("input and caches do not fit together");
    heads = x.shape()[2] / (2 * half);
  }
  return SplitHeads(context, x, heads);
}

/// position_ids is one position, where the first token stands, or one for each token.
void RotaryEmbedding(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), ids = context.Input(1);
  Rotation rotation{context.Input(2),
                    context.Input(3),
                    {},
                    context.Int("rotary_embedding_dim", 0),
                    context.Int("interleaved", 0) != 0};
  if (Rank(rotation.cosines) != 2) context.Refuse("cos_cache needs 2 dimensions");
  if (context.Int("is_packed_batching", 0) != 0) {
    context.RefuseAttribute("is_packed_batching", "1", "it is not supported");
  }
  if (context.Float("scale", 1.0f) != 1.0f) context.Refuse("attribute scale has to be 1");
  const int64_t rows = rotation.cosines.shape()[0];
  const Heads heads = RotaryHeads(context, x, rotation.cosines.shape()[1]);
  if (rotation.rotated == 0) rotation.rotated = 2 * rotation.cosines.shape()[1];
  if (CheckedElementCount(ids.shape()) == 1) {
    const tensor::Tensor first = context.builder().View(ids, {});
    rotation.row = [&, first](const Expr&, const Expr& p) {
      return Exprs{WrappedIndex(tensor::Cast(tensor::DType::kInt64, first.At({})) + p, rows)};
    };
  } else if (ids.shape() == std::vector<int64_t>{heads.batch(), heads.positions()}) {
    rotation.row = [&](const Expr& b, const Expr& p) {
      return Exprs{WrappedIndex(ids(b, p), rows)};
    };
  } else {
    context.Refuse("position_ids does not fit the input");
  }
  context.SetOutput(0, context.builder().View(Rotate(context, heads, rotation).data, x.shape()));
}

}  // namespace

std::span<const Operator> EmbeddingOperators() {
  static const Operator operators[] = {
      {"EmbedLayerNormalization", EmbedLayerNormalization, kDomain},
      {"QEmbedLayerNormalization", QEmbedLayerNormalization, kDomain},
      {"RotaryEmbedding", RotaryEmbedding, kDomain},
  };
  return operators;
}

}  // namespace bayloom::graph::microsoft

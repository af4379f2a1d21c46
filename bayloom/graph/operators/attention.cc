// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Attention over heads, rotary position embeddings, caches of keys and values.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/attention_heads.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;

/// The inputs as heads, and the offset of causal masks.
struct AttentionInputs {
  Heads q, k, v;
  int64_t past = 0;
};

AttentionInputs ReadAttentionInputs(OperatorContext& context) {
  const tensor::Tensor q = context.Input(0), k = context.Input(1), v = context.Input(2);
  AttentionInputs in;
  if (Rank(q) == 3) {
    const int64_t heads = context.Int("q_num_heads"), shared = context.Int("kv_num_heads");
    in = {SplitHeads(context, q, heads), SplitHeads(context, k, shared),
          SplitHeads(context, v, shared)};
  } else {
    in = {AsHeads(context, q), AsHeads(context, k), AsHeads(context, v)};
  }
  if (context.HasInput(4) != context.HasInput(5)) {
    context.Refuse("past_key and past_value need each other");
  }
  if (context.HasInput(4) && context.HasInput(6)) {
    context.Refuse("nonpad_kv_seqlen and past_key exclude each other");
  }
  if (context.HasInput(4)) in.past = AsHeads(context, context.Input(4)).positions();
  in.k = Append(context, OptionalInput(context, 4), in.k);
  in.v = Append(context, OptionalInput(context, 5), in.v);
  return in;
}

/// Masks may be shorter than the keys: what they do not cover is not seen. Before operator set 24,
/// a mask of one column is one for all keys.
void AddMask(OperatorContext& context, const AttentionInputs& in, AttentionOptions& options) {
  tensor::Tensor mask = context.Input(3);
  if (Rank(mask) < 1) context.Refuse("the mask is a scalar");
  const int64_t covered = mask.shape().back(), keys = in.k.positions();
  const bool is_bool = mask.dtype() == tensor::DType::kBool;
  if (covered < keys && (covered != 1 || context.opset() >= 24)) {
    std::vector<int64_t> low(Rank(mask), 0), high(Rank(mask), 0);
    high.back() = keys - covered;
    const Expr fill = is_bool
                          ? tensor::BoolLiteral(false)
                          : tensor::Literal(-std::numeric_limits<double>::infinity(), mask.dtype());
    mask = PadWith(context, mask, low, high, fill);
  }
  CheckMask(context, mask, in.q, in.k);
  const auto term = [mask](const ScorePlace& at) { return MaskAt(mask, at); };
  (is_bool ? options.conditions : options.biases).push_back(term);
}

/// Positions of the queries among the keys, and with them what they may see.
void AddPositions(OperatorContext& context, const AttentionInputs& in, AttentionOptions& options) {
  std::function<Expr(const ScorePlace&)> position = [past = in.past](const ScorePlace& at) {
    return at.query + Expr(past);
  };
  if (context.HasInput(6)) {
    const tensor::Tensor lengths = context.Input(6);
    if (lengths.shape() != std::vector<int64_t>{in.q.batch()}) {
      context.Refuse("nonpad_kv_seqlen needs one element per batch");
    }
    const auto length = [lengths](const ScorePlace& at) {
      return tensor::Cast(tensor::DType::kInt64, lengths(at.batch));
    };
    options.conditions.push_back([length](const ScorePlace& at) { return at.key < length(at); });
    position = [length, queries = in.q.positions()](const ScorePlace& at) {
      return at.query + length(at) - Expr(queries);
    };
  }
  if (context.Int("is_causal", 0) != 0) {
    options.conditions.push_back(
        [position](const ScorePlace& at) { return at.key <= position(at); });
  }
  const int64_t left = context.Int("left_window_size", -1);
  const int64_t right = context.Int("right_window_size", -1);
  if (std::min(left, right) < -1) context.Refuse("a window size below -1");
  if (left >= 0) {
    options.conditions.push_back(
        [position, left](const ScorePlace& at) { return position(at) - Expr(left) <= at.key; });
  }
  if (right >= 0) {
    options.conditions.push_back(
        [position, right](const ScorePlace& at) { return at.key <= position(at) + Expr(right); });
  }
}

void Attention(OperatorContext& context) {
  const AttentionInputs in = ReadAttentionInputs(context);
  AttentionOptions options;
  options.scale =
      context.Float("scale", static_cast<float>(1 / std::sqrt(static_cast<double>(in.q.size()))));
  options.softcap = context.Float("softcap", 0.0f);
  if (const int64_t type = context.Int("softmax_precision", 0); type != 0) {
    options.softmax = DTypeFromOnnx(type > 0 && type < 1000 ? static_cast<int>(type) : 0);
    if (!tensor::IsFloat(*options.softmax)) context.Refuse("softmax_precision is no float type");
  }
  if (context.HasInput(3)) AddMask(context, in, options);
  AddPositions(context, in, options);
  const AttentionResult result = ComputeAttention(context, in.q, in.k, in.v, options);
  context.SetOutput(
      0, Rank(context.Input(0)) == 3 ? JoinHeads(context, result.output) : result.output.data);
  if (context.WantsOutput(1)) context.SetOutput(1, HeadsFirst(context, in.k));
  if (context.WantsOutput(2)) context.SetOutput(2, HeadsFirst(context, in.v));
  if (!context.WantsOutput(3)) return;
  const int64_t mode = context.Int("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) {
    context.RefuseAttribute("qk_matmul_output_mode", fmt::format("{}", mode), "has to be 0 to 3");
  }
  const tensor::Tensor modes[] = {result.scores, result.capped, result.biased,
                                  result.probabilities};
  context.SetOutput(3, modes[mode]);
}

/// The caches are [positions, angles] with position_ids, else [batch, positions, angles].
void RotaryEmbedding(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const Heads heads =
      Rank(x) == 3 ? SplitHeads(context, x, context.Int("num_heads")) : AsHeads(context, x);
  Rotation rotation{context.Input(1),
                    context.Input(2),
                    {},
                    context.Int("rotary_embedding_dim", 0),
                    context.Int("interleaved", 0) != 0};
  const int64_t batch = heads.batch(), positions = heads.positions();
  const std::vector<int64_t> places = {batch, positions};
  if (context.HasInput(3)) {
    const tensor::Tensor ids = context.Input(3);
    if (ids.shape() != places || Rank(rotation.cosines) != 2) {
      context.Refuse("position_ids and the caches do not fit the input");
    }
    rotation.row = [ids, rows = rotation.cosines.shape()[0]](const Expr& b, const Expr& p) {
      return Exprs{WrappedIndex(ids(b, p), rows)};
    };
  } else {
    const std::vector<int64_t>& shape = rotation.cosines.shape();
    const bool fits =
        shape.size() == 3 && shape[1] == positions && (shape[0] == batch || shape[0] == 1);
    if (!fits) context.Refuse("the caches need the input's batch and positions");
    rotation.row = [one = shape[0] == 1](const Expr& b, const Expr& p) {
      return Exprs{one ? Expr(0) : b, p};
    };
  }
  context.SetOutput(0, context.builder().View(Rotate(context, heads, rotation).data, x.shape()));
}

/// Writes `update` into a cache along an axis, from a position per batch on.
void TensorScatter(OperatorContext& context) {
  const tensor::Tensor cache = context.Input(0), update = context.Input(1);
  const int axis = context.Axis("axis", -2, Rank(cache));
  const std::string mode = context.String("mode", "linear");
  if (mode != "linear" && mode != "circular") {
    context.RefuseAttribute("mode", mode, "has to be linear or circular");
  }
  if (axis == 0) context.Refuse("axis 0 is the batch");
  std::vector<int64_t> expected = cache.shape();
  const int64_t length = cache.shape()[axis];
  const int64_t written = Rank(update) == Rank(cache) ? update.shape()[axis] : 0;
  expected[axis] = written;
  if (update.shape() != expected || written > length) {
    context.Refuse("the update does not fit the cache");
  }
  if (context.HasInput(2) && context.Input(2).shape() != std::vector<int64_t>{cache.shape()[0]}) {
    context.Refuse("write_indices needs one element per batch");
  }
  if (written == 0) return context.SetOutput(0, cache);
  context.SetOutput(0, context.builder().Map("tensorscatter", cache.shape(), [&](const Exprs& s) {
    const Expr start =
        context.HasInput(2) ? tensor::Cast(tensor::DType::kInt64, context.Input(2)(s[0])) : Expr(0);
    Expr at = s[axis] - start;
    if (mode == "circular") at = tensor::FloorMod(at, Expr(length));
    Exprs index = s;
    index[axis] = ClampedIndex(at, written);
    return tensor::Select(Expr(0) <= at && at < Expr(written), update.At(index), cache.At(s));
  }));
}

}  // namespace

std::span<const Operator> AttentionOperators() {
  static const Operator operators[] = {
      {"Attention", Attention},
      {"RotaryEmbedding", RotaryEmbedding},
      {"TensorScatter", TensorScatter},
  };
  return operators;
}

}  // namespace bayloom::graph

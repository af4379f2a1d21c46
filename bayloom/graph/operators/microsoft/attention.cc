// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Attention with its projection, over separate queries, keys and values, and over groups of heads.
#include <fmt/format.h>

#include <cmath>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/attention_heads.h"
#include "bayloom/graph/operators/microsoft.h"
#include "bayloom/graph/operators/normalization.h"

namespace bayloom::graph::microsoft {
namespace {

using tensor::DType;
using tensor::Expr;

float Scale(OperatorContext& context, const Heads& q) {
  const float given = context.Float("scale", 0.0f);
  return given != 0 ? given : static_cast<float>(1 / std::sqrt(static_cast<double>(q.size())));
}

Expr Wide(const Expr& e) { return tensor::Cast(DType::kInt64, e); }

/// The keys that `mask` hides, as a large negative number that is added to their scores. It holds
/// 0 for hidden keys ([batch, keys] or [batch, queries, keys]), or per batch the end of what is
/// seen ([batch]), the ends and the starts ([2 * batch]), or lengths and offsets of which the
/// first [batch] are ends ([3 * batch + 2]).
void AddPaddingMask(OperatorContext& context, const tensor::Tensor& mask, const Heads& q,
                    const Heads& k, AttentionOptions& options) {
  const double hidden = context.Float("mask_filter_value", -10000.0f);
  const int64_t batch = q.batch(), keys = k.positions();
  const std::vector<int64_t>& shape = mask.shape();
  const auto add = [&](std::function<Expr(const ScorePlace&)> seen) {
    options.biases.push_back([=](const ScorePlace& at) {
      return tensor::Select(seen(at), tensor::FloatLiteral(0), tensor::FloatLiteral(hidden));
    });
  };
  if (shape == std::vector<int64_t>{batch, keys}) {
    return add([=](const ScorePlace& at) { return Expr(0) < Wide(mask(at.batch, at.key)); });
  }
  if (shape == std::vector<int64_t>{batch, q.positions(), keys}) {
    return add(
        [=](const ScorePlace& at) { return Expr(0) < Wide(mask(at.batch, at.query, at.key)); });
  }
  if (shape == std::vector<int64_t>{batch} || shape == std::vector<int64_t>{3 * batch + 2}) {
    return add([=](const ScorePlace& at) { return at.key < Wide(mask(at.batch)); });
  }
  if (shape == std::vector<int64_t>{2 * batch}) {
    return add([=](const ScorePlace& at) {
      return at.key < Wide(mask(at.batch)) && Wide(mask(at.batch + Expr(batch))) <= at.key;
    });
  }
  context.Refuse(fmt::format("the mask {} does not fit {} keys of {} batches",
                             ToString(mask.dtype(), shape), keys, batch));
}

void AddBias(OperatorContext& context, int input, const Heads& q, const Heads& k,
             AttentionOptions& options) {
  if (!context.HasInput(input)) return;
  const tensor::Tensor bias = context.Input(input);
  CheckMask(context, bias, q, k);
  options.biases.push_back([bias](const ScorePlace& at) { return MaskAt(bias, at); });
}

// --- Attention and QAttention ------------------------------------------------------------------

/// Inputs of the attention that follows a projection, by number; -1: there is none.
struct ProjectedInputs {
  int mask, past, bias;
};

/// Keys (part 0) or values (part 1) of a state [2, batch, heads, positions, size].
std::optional<tensor::Tensor> StatePart(OperatorContext& context, int input, int part) {
  if (!context.HasInput(input)) return std::nullopt;
  const tensor::Tensor state = context.Input(input);
  if (Rank(state) != 5 || state.shape()[0] != 2) context.Refuse("the past state does not fit");
  const std::vector<int64_t> shape(state.shape().begin() + 1, state.shape().end());
  return context.builder().Map("past", shape,
                               [&](const Exprs& s) { return state(part, s[0], s[1], s[2], s[3]); });
}

void AttendProjected(OperatorContext& context, const tensor::Tensor& projected,
                     const ProjectedInputs& inputs) {
  for (const char* name : {"do_rotary", "past_present_share_buffer"}) {
    if (context.Int(name, 0) != 0) context.RefuseAttribute(name, "1", "it is not supported");
  }
  const int64_t heads = context.Int("num_heads"), width = projected.shape().back();
  std::vector<int64_t> sizes = context.Ints("qkv_hidden_sizes");
  if (sizes.empty()) sizes.assign(3, width / 3);
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != width) {
    context.Refuse("attribute qkv_hidden_sizes does not fit the weights");
  }
  const auto part = [&](int64_t first, int64_t size) {
    return SplitHeads(context, LastAxisSlice(context, projected, first, size), heads);
  };
  const Heads q = part(0, sizes[0]);
  const Heads k = Append(context, StatePart(context, inputs.past, 0), part(sizes[0], sizes[1]));
  const Heads v =
      Append(context, StatePart(context, inputs.past, 1), part(sizes[0] + sizes[1], sizes[2]));
  AttentionOptions options;
  options.scale = Scale(context, q);
  if (context.HasInput(inputs.mask)) {
    AddPaddingMask(context, context.Input(inputs.mask), q, k, options);
  }
  if (inputs.bias >= 0) AddBias(context, inputs.bias, q, k, options);
  if (context.Int("unidirectional", 0) != 0) {
    options.conditions.push_back(CausalCondition(k.positions() - q.positions()));
  }
  const AttentionResult result = ComputeAttention(context, q, k, v, options);
  context.SetOutput(0, JoinHeads(context, result.output));
  if (!context.WantsOutput(1)) return;
  const auto stacked = [&](const Heads& x) {
    const tensor::Tensor rows = HeadsFirst(context, x);
    std::vector<int64_t> shape = rows.shape();
    shape.insert(shape.begin(), 1);
    return context.builder().View(rows, shape);
  };
  context.SetOutput(
      1, ApplyOperator(context, "Concat", {stacked(k), stacked(v)}, {{{"axis", int64_t{0}}}}));
}

void CheckProjection(OperatorContext& context, const tensor::Tensor& x,
                     const tensor::Tensor& weights) {
  if (Rank(x) != 3 || Rank(weights) != 2) {
    context.Refuse("input and weights need 3 and 2 dimensions");
  }
}

void Attention(OperatorContext& context) {
  CheckProjection(context, context.Input(0), context.Input(1));
  if (context.HasInput(6)) context.Refuse("past_sequence_length is not supported");
  tensor::Tensor y = ApplyOperator(context, "MatMul", {context.Input(0), context.Input(1)});
  if (context.HasInput(2)) y = ApplyOperator(context, "Add", {y, context.Input(2)});
  AttendProjected(context, y, {3, 4, 5});
}

void QAttention(OperatorContext& context) {
  CheckProjection(context, context.Input(0), context.Input(1));
  const tensor::Tensor product = ApplyOperator(
      context, "MatMulInteger",
      {context.Input(0), context.Input(1), OptionalInput(context, 6), OptionalInput(context, 7)});
  const tensor::Tensor y = Elementwise(
      context, "rescale", {product, context.Input(3), context.Input(4), context.Input(2)},
      [](const Exprs& e) { return tensor::Cast(e[1]->dtype, e[0]) * (e[1] * e[2]) + e[3]; });
  if (y.shape() != product.shape()) context.Refuse("scales or bias do not fit the product");
  AttendProjected(context, y, {5, 8, -1});
}

// --- MultiHeadAttention ------------------------------------------------------------------------

/// Part `part` of a packed tensor [batch, positions, heads, parts, size].
Heads Unpacked(OperatorContext& context, const tensor::Tensor& packed, int64_t part) {
  const std::vector<int64_t>& s = packed.shape();
  const tensor::Tensor x = context.builder().Map(
      "unpack", {s[0], s[1], s[2], s[4]},
      [&](const Exprs& at) { return packed(at[0], at[1], at[2], part, at[3]); });
  return {x, true};
}

/// [batch, positions, heads * size], or heads already.
Heads ReadHeads(OperatorContext& context, const tensor::Tensor& x, int64_t heads) {
  return Rank(x) == 4 ? AsHeads(context, x) : SplitHeads(context, x, heads);
}

/// Adds `count` = heads * size elements of a bias from `first` on.
Heads WithBias(OperatorContext& context, const Heads& x, const tensor::Tensor& bias,
               int64_t first) {
  const tensor::Tensor part = context.builder().View(
      LastAxisSlice(context, bias, first, x.count() * x.size()), {x.count(), x.size()});
  const tensor::Tensor y = context.builder().Map("bias", x.data.shape(), [&](const Exprs& s) {
    return x.data.At(s) + part(s[x.positions_first ? 2 : 1], s[3]);
  });
  return {y, x.positions_first};
}

struct Projections {
  Heads q, k, v;
};

Projections ReadProjections(OperatorContext& context) {
  const int64_t heads = context.Int("num_heads");
  const tensor::Tensor query = context.Input(0);
  Projections p;
  if (Rank(query) == 5 && query.shape()[3] == 3) {
    p = {Unpacked(context, query, 0), Unpacked(context, query, 1), Unpacked(context, query, 2)};
  } else if (const tensor::Tensor key = context.Input(1); Rank(key) == 5 && key.shape()[3] == 2) {
    p = {SplitHeads(context, query, heads), Unpacked(context, key, 0), Unpacked(context, key, 1)};
  } else {
    p = {SplitHeads(context, query, heads), ReadHeads(context, key, heads),
         ReadHeads(context, context.Input(2), heads)};
  }
  if (!context.HasInput(3)) return p;
  const tensor::Tensor bias = context.Input(3);
  const int64_t q = p.q.count() * p.q.size(), k = p.k.count() * p.k.size();
  if (bias.shape() != std::vector<int64_t>{q + k + p.v.count() * p.v.size()}) {
    context.Refuse("the bias needs one element for each channel of queries, keys and values");
  }
  p.q = WithBias(context, p.q, bias, 0);
  if (!p.k.positions_first) return p;  // heads of an earlier projection hold theirs
  p.k = WithBias(context, p.k, bias, q);
  p.v = WithBias(context, p.v, bias, q + k);
  return p;
}

void MultiHeadAttention(OperatorContext& context) {
  if (context.HasInput(8) || context.HasInput(9)) {
    context.Refuse("past_sequence_length and cache_indirection are not supported");
  }
  Projections p = ReadProjections(context);
  p.k = Append(context, OptionalInput(context, 6), p.k);
  p.v = Append(context, OptionalInput(context, 7), p.v);
  AttentionOptions options;
  options.scale = Scale(context, p.q);
  if (context.HasInput(4)) AddPaddingMask(context, context.Input(4), p.q, p.k, options);
  AddBias(context, 5, p.q, p.k, options);
  if (context.Int("unidirectional", 0) != 0) {
    options.conditions.push_back(CausalCondition(p.k.positions() - p.q.positions()));
  }
  const AttentionResult result = ComputeAttention(context, p.q, p.k, p.v, options);
  context.SetOutput(0, JoinHeads(context, result.output));
  if (context.WantsOutput(1)) context.SetOutput(1, HeadsFirst(context, p.k));
  if (context.WantsOutput(2)) context.SetOutput(2, HeadsFirst(context, p.v));
}

// --- GroupQueryAttention -----------------------------------------------------------------------

/// Where the new tokens of each batch go: behind what the cache holds of it.
struct CachePlaces {
  std::function<Expr(const Expr& batch)> start;
  int64_t written = 0;   ///< new tokens
  int64_t capacity = 0;  ///< of the present state
};

CachePlaces ReadCachePlaces(OperatorContext& context, int64_t batch, int64_t written) {
  const tensor::Tensor lengths = context.Input(5);
  if (CheckedElementCount(lengths.shape()) != batch) {
    context.Refuse("seqlens_k needs one element per batch");
  }
  const int64_t total = context.IntInput(6);
  const int64_t past = context.HasInput(3) ? AsHeads(context, context.Input(3)).positions() : 0;
  if (total < written || total > (int64_t{1} << 31)) {
    context.Refuse(fmt::format("a total_sequence_length of {} with {} new tokens", total, written));
  }
  CachePlaces places{nullptr, written, std::max(total, past)};
  // The first tokens are padded at their end; of a single batch the length is the total by its
  // definition.
  const bool grows = batch == 1 && total - written == past;
  if (total == written || grows) {
    places.start = [start = total - written](const Expr&) { return Expr(start); };
  } else {
    const tensor::Tensor flat = context.builder().View(lengths, {batch});
    places.start = [flat, written](const Expr& b) { return Wide(flat(b)) + Expr(1 - written); };
  }
  return places;
}

/// The cache with the new tokens written into it: [batch, heads, capacity, size].
Heads Present(OperatorContext& context, int past_input, const Heads& fresh,
              const CachePlaces& places) {
  const std::optional<tensor::Tensor> past = OptionalInput(context, past_input);
  const std::vector<int64_t> shape = {fresh.batch(), fresh.count(), places.capacity, fresh.size()};
  if (past) {
    std::vector<int64_t> expected = shape;
    if (Rank(*past) == 4) expected[2] = past->shape()[2];
    if (past->shape() != expected) context.Refuse("the past state does not fit the keys");
  }
  const int64_t kept = past ? past->shape()[2] : 0;
  if (past && fresh.batch() == 1 && kept + places.written == places.capacity) {
    return Append(context, past, fresh);
  }
  const tensor::Tensor y = context.builder().Map("present", shape, [&](const Exprs& s) {
    const Expr start = places.start(s[0]);
    const Expr written = start <= s[2] && s[2] < start + Expr(places.written);
    Expr old = tensor::Literal(0, fresh.data.dtype());
    if (kept > 0) {
      const Expr element = past->At(s);
      // A cache that grows holds nothing behind its end; one of full size stays as it was.
      const Expr held = s[2] < Expr(kept) && s[2] < start;
      old = kept < places.capacity ? tensor::Select(held, element, old) : element;
    }
    const Expr token = ClampedIndex(s[2] - start, places.written);
    return tensor::Select(written, fresh.At(s[0], s[1], token, s[3]), old);
  });
  return {y, false};
}

/// Rotation by the positions of the tokens: given, or behind what the cache holds.
void RotateNew(OperatorContext& context, Heads& q, Heads& k, const CachePlaces& places) {
  Rotation rotation{
      context.Input(7), context.Input(8), {}, 0, context.Int("rotary_interleaved", 0) != 0};
  if (Rank(rotation.cosines) != 2) context.Refuse("cos_cache needs 2 dimensions");
  rotation.rotated = 2 * rotation.cosines.shape()[1];
  const int64_t rows = rotation.cosines.shape()[0];
  rotation.row = [&](const Expr& b, const Expr& p) {
    return Exprs{WrappedIndex(tensor::Max(places.start(b) + p, Expr(0)), rows)};
  };
  if (context.HasInput(9)) {
    const tensor::Tensor ids = context.Input(9);
    if (ids.shape() != std::vector<int64_t>{q.batch(), q.positions()}) {
      context.Refuse("position_ids does not fit the query");
    }
    rotation.row = [ids, rows](const Expr& b, const Expr& p) {
      return Exprs{WrappedIndex(ids(b, p), rows)};
    };
  }
  q = Rotate(context, q, rotation);
  k = Rotate(context, k, rotation);
}

Projections ReadGroups(OperatorContext& context) {
  const tensor::Tensor query = context.Input(0);
  const int64_t heads = context.Int("num_heads"), shared = context.Int("kv_num_heads");
  if (heads < 1 || shared < 1 || std::max(heads, shared) > (1 << 20)) {
    context.Refuse("the numbers of heads have to be positive");
  }
  if (context.HasInput(1)) {
    return {SplitHeads(context, query, heads), SplitHeads(context, context.Input(1), shared),
            SplitHeads(context, context.Input(2), shared)};
  }
  const Heads all = SplitHeads(context, query, heads + 2 * shared);
  const auto part = [&](int64_t first, int64_t count) {
    std::vector<int64_t> shape = all.data.shape();
    shape[2] = count;
    return Heads{context.builder().Map("unpack", shape,
                                       [&](const Exprs& s) {
                                         return all.data(s[0], s[1], s[2] + Expr(first), s[3]);
                                       }),
                 true};
  };
  return {part(0, heads), part(heads, shared), part(heads + shared, shared)};
}

void CheckGroupQueryAttention(OperatorContext& context) {
  for (int input : {12, 13, 16}) {
    if (context.HasInput(input)) {
      context.Refuse("quantized caches and query_seqlens are not supported");
    }
  }
  if (context.Int("sliding_window_cache", 0) != 0) {
    context.RefuseAttribute("sliding_window_cache", "1", "it is not supported");
  }
}

/// Each head by its root mean square, where weights for it are given.
void NormalizeHeads(OperatorContext& context, Heads& x, int weight, const char* name) {
  if (!context.HasInput(weight)) return;
  const double epsilon = context.Float(name, context.Float("qk_norm_epsilon", 1e-6f));
  x.data = RmsNormalize(context, x.data, context.Input(weight), 3, epsilon).y;
}

void GroupQueryAttention(OperatorContext& context) {
  CheckGroupQueryAttention(context);
  Projections p = ReadGroups(context);
  const CachePlaces places = ReadCachePlaces(context, p.q.batch(), p.q.positions());
  if (p.k.positions() != p.q.positions() || p.v.positions() != p.q.positions()) {
    context.Refuse("queries, keys and values differ in length");
  }
  NormalizeHeads(context, p.q, 14, "q_norm_epsilon");
  NormalizeHeads(context, p.k, 15, "k_norm_epsilon");
  if (context.Int("do_rotary", 0) != 0) RotateNew(context, p.q, p.k, places);
  const Heads k = Present(context, 3, p.k, places), v = Present(context, 4, p.v, places);
  AttentionOptions options;
  options.scale = Scale(context, p.q);
  options.softcap = context.Float("softcap", 0.0f);
  options.zero_sink = context.Int("smooth_softmax", -1) == 1;
  options.sink = OptionalInput(context, 11);
  if (options.sink && options.sink->shape() != std::vector<int64_t>{p.q.count()}) {
    context.Refuse("head_sink needs one element per head");
  }
  AddBias(context, 10, p.q, k, options);
  const bool causal = context.Int("causal", 1) != 0;
  const auto start = places.start;
  const int64_t written = places.written;
  options.conditions.push_back([=](const ScorePlace& at) {
    return at.key < start(at.batch) + (causal ? at.query + Expr(1) : Expr(written));
  });
  if (const int64_t window = context.Int("local_window_size", -1); window > 0) {
    options.conditions.push_back(
        [=](const ScorePlace& at) { return start(at.batch) + at.query - Expr(window) < at.key; });
  }
  const AttentionResult result = ComputeAttention(context, p.q, k, v, options);
  context.SetOutput(0, JoinHeads(context, result.output));
  if (context.WantsOutput(1)) context.SetOutput(1, k.data);
  if (context.WantsOutput(2)) context.SetOutput(2, v.data);
}

}  // namespace

std::span<const Operator> AttentionOperators() {
  static const Operator operators[] = {
      {"Attention", Attention, kDomain},
      {"GroupQueryAttention", GroupQueryAttention, kDomain},
      {"MultiHeadAttention", MultiHeadAttention, kDomain},
      {"QAttention", QAttention, kDomain},
  };
  return operators;
}

}  // namespace bayloom::graph::microsoft

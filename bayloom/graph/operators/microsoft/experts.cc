// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Mixtures of experts: each token goes through the few that a router chooses for it.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/microsoft.h"
#include "bayloom/graph/operators/packed_weights.h"
#include "bayloom/tensor/operators.h"

namespace bayloom::graph::microsoft {
namespace {

using tensor::DType;
using tensor::Expr;

/// Rows of tokens as experts take them, and how what they give is mixed.
struct Routing {
  tensor::Tensor rows;  ///< float32 [tokens, width], or [groups, size, width]
  Experts experts;
  tensor::Tensor weights;  ///< float32 [tokens, k], of what the chosen experts give
  /// int64 [tokens, k]: where rows of groups are, counted over all groups.
  std::optional<tensor::Tensor> places;
};

/// The chosen experts of each token, [tokens, k], and their logits.
struct Choice {
  tensor::Tensor experts, logits;
};

Choice Choose(OperatorContext& context, const tensor::Tensor& router, int64_t k) {
  const int64_t tokens = router.shape()[0], count = router.shape()[1];
  GraphBuilder& b = context.builder();
  const tensor::Tensor experts =
      b.Call("experts", {tokens, k}, DType::kInt64, tensor::LibraryKernel::kTopK, {router},
             {tokens, count, 1, k, 1});
  const tensor::Tensor logits = b.Map("router.chosen", {tokens, k}, [&](const Exprs& s) {
    return router(s[0], experts(s[0], s[1]));
  });
  return {experts, logits};
}

tensor::Tensor Softmax(OperatorContext& context, const tensor::Tensor& x) {
  return ApplyOperator(context, "Softmax", {x}, {{{"axis", int64_t{-1}}}});
}

/// `among_chosen`: the weights are the softmax of the chosen logits; else that of all.
tensor::Tensor WeightsOf(OperatorContext& context, const tensor::Tensor& router,
                         const Choice& choice, bool among_chosen) {
  if (among_chosen) return Softmax(context, choice.logits);
  const tensor::Tensor all = Softmax(context, router);
  return context.builder().Map("router.weights", choice.experts.shape(), [&](const Exprs& s) {
    return all(s[0], choice.experts(s[0], s[1]));
  });
}

/// How many rows have their experts' weights read together.
int64_t GroupSize(int64_t rows_of_expert) {
  constexpr int64_t kLargest = 8, kSmallest = 4;
  int64_t size = kSmallest;
  while (size < kLargest && 2 * size <= rows_of_expert) size *= 2;
  return size;
}

/// Rows in groups of `size`, each of one expert: expert by expert, in the order of tokens, the last
/// rows of an expert's last group those of the first token. There are as many groups as there may
/// have to be.
class Grouping {
 public:
  Grouping(OperatorContext& context, const tensor::Tensor& experts, int64_t count, int64_t size)
      : builder_(context.builder()), experts_(experts), count_(count), size_(size) {}

  Routing Group(const tensor::Tensor& rows, const tensor::Tensor& weights) {
    const int64_t tokens = experts_.shape()[0], k = experts_.shape()[1], width = rows.shape()[1];
    const tensor::Tensor is_chosen = builder_.Reduce(
        "router.is_chosen", {tokens, count_}, {{"slot", k}}, tensor::Reduction::kSum,
        [&](const Exprs& s, const Exprs& r) {
          return tensor::Cast(DType::kInt64, tensor::Equal(experts_(s[0], r[0]), s[1]));
        });
    const tensor::Tensor ends = Ends(is_chosen);
    const tensor::Tensor places = Places(is_chosen, ends);
    const int64_t groups = (tokens * k + count_ * (size_ - 1)) / size_;
    const tensor::Tensor chosen = ExpertsOf(ends, groups);
    const tensor::Tensor tokens_of = TokensOf(places, groups * size_);
    const tensor::Tensor grouped = builder_.Map(
        "router.rows", {groups, size_, width},
        [&](const Exprs& s) { return rows(tokens_of(s[0] * Expr(size_) + s[1]), s[2]); });
    return {grouped, {size_, chosen}, weights, places};
  }

 private:
  /// The groups of the experts up to each one: [experts].
  tensor::Tensor Ends(const tensor::Tensor& is_chosen) {
    groups_of_ =
        builder_.Map("router.groups", {count_}, [&, counts = Counts(is_chosen)](const Exprs& s) {
          return tensor::FloorDiv(counts(s[0]) + Expr(size_ - 1), Expr(size_));
        });
    return builder_.Reduce("router.ends", {count_}, {{"expert", count_}}, tensor::Reduction::kSum,
                           [&](const Exprs& s, const Exprs& r) {
                             return tensor::Select(r[0] <= s[0], (*groups_of_)(r[0]), Expr(0));
                           });
  }
  tensor::Tensor Counts(const tensor::Tensor& is_chosen) {
    return builder_.Reduce("router.counts", {count_}, {{"token", is_chosen.shape()[0]}},
                           tensor::Reduction::kSum,
                           [&](const Exprs& s, const Exprs& r) { return is_chosen(r[0], s[0]); });
  }
  tensor::Tensor Places(const tensor::Tensor& is_chosen, const tensor::Tensor& ends) {
    const tensor::Tensor before = builder_.Call(
        "router.before", is_chosen.shape(), DType::kInt64, tensor::LibraryKernel::kScan,
        {is_chosen}, {1, is_chosen.shape()[0], count_, 0, /*exclusive=*/1, 0});
    return builder_.Map("router.places", experts_.shape(), [&](const Exprs& s) {
      const Expr expert = experts_(s[0], s[1]);
      return (ends(expert) - (*groups_of_)(expert)) * Expr(size_) + before(s[0], expert);
    });
  }
  /// Which token's row is at each of the places.
  tensor::Tensor TokensOf(const tensor::Tensor& places, int64_t count) {
    const int64_t tokens = places.shape()[0], k = places.shape()[1];
    const tensor::Tensor first =
        builder_.Map("router.first", {count}, [](const Exprs&) { return Expr(0); });
    const tensor::Tensor indices = builder_.View(places, {tokens, k, 1});
    const tensor::Tensor own =
        builder_.Map("router.own", {tokens, k}, [](const Exprs& s) { return s[0]; });
    return builder_.Call("router.tokens", {count}, DType::kInt64,
                         tensor::LibraryKernel::kScatterRows, {first, indices, own},
                         {static_cast<int64_t>(tensor::Reduction::kNone), tokens * k, 1, 1, count});
  }
  tensor::Tensor ExpertsOf(const tensor::Tensor& ends, int64_t groups) {
    const tensor::Tensor before =
        builder_.Reduce("router.before", {groups}, {{"expert", count_}}, tensor::Reduction::kSum,
                        [&](const Exprs& s, const Exprs& r) {
                          return tensor::Cast(DType::kInt64, ends(r[0]) <= s[0]);
                        });
    return builder_.Map("router.experts", {groups}, [&](const Exprs& s) {
      return tensor::Min(before(s[0]), Expr(count_ - 1));
    });
  }

  GraphBuilder& builder_;
  const tensor::Tensor experts_;  ///< int64 [tokens, k]
  const int64_t count_, size_;
  std::optional<tensor::Tensor> groups_of_;  ///< int64 [experts]: how many groups each has
};

/// Few tokens read the weights of the experts that were chosen for them, each its own. Of more
/// tokens those that have an expert in common read its weights together. Of imports for several
/// lengths the longest decides for all.
Routing Route(OperatorContext& context, const tensor::Tensor& rows, const tensor::Tensor& router,
              bool among_chosen) {
  const int64_t tokens = router.shape()[0], count = router.shape()[1];
  const int64_t k = context.Int("k", 1);
  if (k < 1 || k > count) context.Refuse(fmt::format("{} of {} experts", k, count));
  const Choice choice = Choose(context, router, k);
  const tensor::Tensor weights = WeightsOf(context, router, choice, among_chosen);
  const int64_t most = context.builder().UnrollingOf(tokens).steps * k;
  if (most <= count) return {rows, {k, choice.experts}, weights, std::nullopt};
  return Grouping(context, choice.experts, count, GroupSize(most / count)).Group(rows, weights);
}

/// A layer of all experts: rows [m, in] or [m, slots, in] -> [m, slots, out].
using Layer = std::function<tensor::Tensor(const tensor::Tensor& rows, const Experts& experts)>;

/// Adds the bias [experts, out], input number `i`, if there is one.
tensor::Tensor WithBias(OperatorContext& context, int i, const tensor::Tensor& y,
                        const Experts& experts) {
  if (!context.HasInput(i)) return y;
  const tensor::Tensor bias = context.Input(i);
  if (Rank(bias) != 2 || bias.shape()[1] != y.shape()[2]) context.Refuse("a bias does not fit");
  return context.builder().Map("bias", y.shape(), [&](const Exprs& s) {
    return y.At(s) + bias(ExpertAt(experts, s[0], s[1]), s[2]);
  });
}

/// Weights [experts, out, in], input number `i`, and their bias, behind which it is.
Layer FloatLayer(OperatorContext& context, int i) {
  return [&context, i](const tensor::Tensor& rows, const Experts& experts) {
    const tensor::Tensor w = context.Input(i);
    if (Rank(w) != 3 || w.shape()[2] != rows.shape().back() || w.dtype() != rows.dtype()) {
      context.Refuse(fmt::format("input {} does not fit", i));
    }
    const bool has_slots = Rank(rows) == 3;
    const tensor::Tensor y = context.builder().Reduce(
        "experts", {rows.shape()[0], experts.slots, w.shape()[1]}, {{"k", w.shape()[2]}},
        tensor::Reduction::kSum,
        [&](const Exprs& s, const Exprs& r) {
          const Expr x = has_slots ? rows(s[0], s[1], r[0]) : rows(s[0], r[0]);
          return x * w(ExpertAt(experts, s[0], s[1]), s[2], r[0]);
        },
        NodeKind::kMatmul);
    return WithBias(context, i + 1, y, experts);
  };
}

// --- Between the layers ---

/// The gate's function of `x`, before which it is limited, times the other half.
Expr SwiGlu(OperatorContext& context, Expr gate, Expr linear) {
  const float alpha = context.Float("activation_alpha", 1.0f);
  const float beta = context.Float("activation_beta", 0.0f);
  const float limit = context.Float("swiglu_limit", INFINITY);
  if (std::isfinite(limit)) {
    const Expr high = tensor::FloatLiteral(limit);
    gate = tensor::Min(gate, high);
    linear = tensor::Max(tensor::Min(linear, high), -high);
  }
  return gate * tensor::Sigmoid(tensor::FloatLiteral(alpha) * gate) *
         (linear + tensor::FloatLiteral(beta));
}

/// Both halves of a fused projection: side by side, or taking turns.
tensor::Tensor FusedGate(OperatorContext& context, const tensor::Tensor& h, bool interleaved) {
  const std::vector<int64_t>& s = h.shape();
  const int64_t size = s[2] / 2;
  return context.builder().Map("gate", {s[0], s[1], size}, [&](const Exprs& at) {
    const Expr first = interleaved ? at[2] * Expr(2) : at[2];
    const Expr second = interleaved ? first + Expr(1) : first + Expr(size);
    return SwiGlu(context, h(at[0], at[1], first), h(at[0], at[1], second));
  });
}

tensor::Tensor Activated(OperatorContext& context, const tensor::Tensor& h) {
  const std::string type = context.String("activation_type", "relu");
  if (type == "identity") return h;
  if (type == "gelu") {
    return Elementwise(context, type, h, [](const Expr& x) {
      const Expr half = tensor::FloatLiteral(0.5);
      const Expr erf =
          tensor::Unary(tensor::ExprOp::kErf, x * tensor::FloatLiteral(std::sqrt(0.5)));
      return x * half * (tensor::FloatLiteral(1) + erf);
    });
  }
  if (type == "silu") {
    return Elementwise(context, type, h, [](const Expr& x) { return x * tensor::Sigmoid(x); });
  }
  if (type != "relu") context.RefuseAttribute("activation_type", type, "it is not supported");
  return ApplyOperator(context, "Relu", {h});
}

/// What the last layer reads.
tensor::Tensor Between(OperatorContext& context, const tensor::Tensor& rows, const Experts& experts,
                       const Layer& first, const std::optional<Layer>& third) {
  const tensor::Tensor h = first(rows, experts);
  const int64_t fusion = context.Int("swiglu_fusion", 0);
  if (context.Int("swiglu_limit_after_activation", 0) != 0) {
    context.RefuseAttribute("swiglu_limit_after_activation", "1", "it is not supported");
  }
  if (fusion != 0) return FusedGate(context, h, fusion == 1);
  if (!third) return Activated(context, h);
  const tensor::Tensor linear = (*third)(rows, experts);
  if (context.String("activation_type", "relu") == "swiglu") {
    return Elementwise(context, "gate", {h, linear},
                       [&](const Exprs& e) { return SwiGlu(context, e[0], e[1]); });
  }
  return Elementwise(context, "gate", {Activated(context, h), linear},
                     [](const Exprs& e) { return e[0] * e[1]; });
}

void Mix(OperatorContext& context, bool among_chosen, const Layer& first, const Layer& second,
         const std::optional<Layer>& third) {
  const tensor::Tensor x = context.Input(0), router = context.Input(1);
  const int64_t width = x.shape().empty() ? 0 : x.shape().back();
  if (Rank(x) < 2 || Rank(router) != 2 || x.dtype() != DType::kFloat32 ||
      CheckedElementCount(x.shape()) != router.shape()[0] * width) {
    context.Refuse("the router needs a row for each token");
  }
  if (context.Int("use_sparse_mixer", 0) != 0) {
    context.RefuseAttribute("use_sparse_mixer", "1", "it is not supported");
  }
  const tensor::Tensor rows = context.builder().View(x, {router.shape()[0], width});
  const Routing routing = Route(context, rows, router, among_chosen);
  const tensor::Tensor h = Between(context, routing.rows, routing.experts, first, third);
  const tensor::Tensor y = second(h, routing.experts);
  const std::vector<int64_t>& slots = routing.weights.shape();
  const tensor::Tensor sum = context.builder().Reduce(
      "mix", {slots[0], y.shape()[2]}, {{"slot", slots[1]}}, tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        const Expr weight = routing.weights(s[0], r[0]);
        if (!routing.places) return y(s[0], r[0], s[1]) * weight;
        const Expr place = (*routing.places)(s[0], r[0]), size(y.shape()[1]);
        return y(tensor::FloorDiv(place, size), tensor::FloorMod(place, size), s[1]) * weight;
      });
  context.SetOutput(0, context.builder().View(sum, x.shape()));
}

void MixtureOfExperts(OperatorContext& context) {
  std::optional<Layer> third;
  if (context.HasInput(6)) third = FloatLayer(context, 6);
  Mix(context, context.Int("normalize_routing_weights", 0) != 0, FloatLayer(context, 2),
      FloatLayer(context, 4), third);
}

// --- Weights of few bits ---

/// Numbers of the inputs of a layer.
struct PackedInputs {
  int weights, scales, bias, zeros;
};

/// Levels [experts, out, in * bits / 8] with scales of rows or of blocks along `in`.
PackedWeights ReadPacked(OperatorContext& context, const PackedInputs& inputs, int64_t k) {
  const int64_t bits = context.Int("expert_weight_bits", 4);
  const tensor::Tensor w = context.Input(inputs.weights), scales = context.Input(inputs.scales);
  if ((bits != 2 && bits != 4 && bits != 8) || context.String("quant_type", "int") != "int") {
    context.Refuse("experts need weights of 2, 4 or 8 bits");
  }
  const int64_t given = context.Int("block_size", 0), size = given > 0 ? given : k;
  if (Rank(w) != 3 || w.shape()[2] * 8 != k * bits || k % size != 0 || size * bits % 8 != 0) {
    context.Refuse(fmt::format("input {} does not fit", inputs.weights));
  }
  const int64_t count = w.shape()[0], n = w.shape()[1], blocks = k / size;
  GraphBuilder& b = context.builder();
  const tensor::Tensor levels =
      Permute(context, b.View(w, {count, n, blocks, size * bits / 8}), {0, 2, 3, 1});
  if (CheckedElementCount(scales.shape()) != count * n * blocks) {
    context.Refuse(fmt::format("input {} does not fit", inputs.scales));
  }
  const auto by_block = [&](const tensor::Tensor& x) {
    return Permute(context, b.View(x, {count, n, blocks}), {0, 2, 1});
  };
  std::optional<tensor::Tensor> zeros;
  if (context.HasInput(inputs.zeros)) {
    context.Refuse("zero points of experts are not supported");
  }
  const tensor::Tensor wide = ConvertTo(context, DType::kFloat32, scales);
  if (!b.ConstantOf(levels) || !b.ConstantOf(wide)) {
    context.Refuse("the weights are known at run time only");
  }
  return {levels, NarrowScales(context, by_block(wide)), zeros, int64_t{1} << (bits - 1), k, size,
          bits};
}

Layer PackedLayer(OperatorContext& context, const PackedInputs& inputs) {
  return [&context, inputs](const tensor::Tensor& rows, const Experts& experts) {
    const PackedWeights weights = ReadPacked(context, inputs, rows.shape().back());
    const tensor::Tensor y =
        PackedProduct(context, rows, weights, PrecisionOfRows(context), experts);
    return WithBias(context, inputs.bias, y, experts);
  };
}

/// The weights of tokens are those of the chosen experts alone, as onnxruntime's are.
void QuantizedMixtureOfExperts(OperatorContext& context) {
  if (context.HasInput(14)) context.Refuse("router_weights are not supported");
  std::optional<Layer> third;
  if (context.HasInput(8)) third = PackedLayer(context, {8, 9, 10, 13});
  Mix(context, true, PackedLayer(context, {2, 3, 4, 11}), PackedLayer(context, {5, 6, 7, 12}),
      third);
}

}  // namespace

std::span<const Operator> ExpertOperators() {
  static const Operator operators[] = {
      {"MoE", MixtureOfExperts, kDomain},
      {"QMoE", QuantizedMixtureOfExperts, kDomain},
  };
  return operators;
}

}  // namespace bayloom::graph::microsoft

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

/// Tokens and what the router says of them.
struct Routing {
  Experts experts;
  tensor::Tensor weights;  ///< float32 [tokens, slots], of what the slots' experts give
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

/// Few tokens read the weights of the experts that were chosen for them. Of more tokens each
/// expert is chosen by some: all are computed, and those that were not chosen count nothing. Of
/// imports for several lengths the longest decides for all.
Routing Route(OperatorContext& context, const tensor::Tensor& router, bool among_chosen) {
  const int64_t tokens = router.shape()[0], count = router.shape()[1];
  const int64_t k = context.Int("k", 1);
  if (k < 1 || k > count) context.Refuse(fmt::format("{} of {} experts", k, count));
  const Choice choice = Choose(context, router, k);
  const tensor::Tensor weights = WeightsOf(context, router, choice, among_chosen);
  const bool are_few = context.builder().UnrollingOf(tokens).steps * k <= count;
  if (are_few) return {{k, choice.experts}, weights};
  const tensor::Tensor spread = context.builder().Reduce(
      "router.spread", {tokens, count}, {{"slot", k}}, tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        const Expr is_chosen = tensor::Equal(choice.experts(s[0], r[0]), s[1]);
        return tensor::Select(is_chosen, weights(s[0], r[0]), tensor::FloatLiteral(0));
      });
  return {{count, std::nullopt}, spread};
}

/// A layer of all experts: rows [tokens, in] or [tokens, slots, in] -> [tokens, slots, out].
using Layer = std::function<tensor::Tensor(const tensor::Tensor& rows, const Experts& experts)>;

/// The expert of a slot of a token.
Expr ExpertAt(const Experts& experts, const Expr& token, const Expr& slot) {
  return experts.chosen ? (*experts.chosen)(token, slot) : slot;
}

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
  const Routing routing = Route(context, router, among_chosen);
  const tensor::Tensor h = Between(context, rows, routing.experts, first, third);
  const tensor::Tensor y = second(h, routing.experts);
  const tensor::Tensor sum = context.builder().Reduce(
      "mix", {y.shape()[0], y.shape()[2]}, {{"slot", routing.experts.slots}},
      tensor::Reduction::kSum, [&](const Exprs& s, const Exprs& r) {
        return y(s[0], r[0], s[1]) * routing.weights(s[0], r[0]);
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

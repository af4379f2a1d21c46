// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <string>

#include "examples/models/layers.h"
#include "examples/models/models.h"

namespace bayloom::models {
namespace {

constexpr int64_t kTokens = 128;
constexpr int64_t kWidth = 768;
constexpr int64_t kHeads = 12;
constexpr int64_t kHeadWidth = kWidth / kHeads;

Value LayerNorm(GraphBuilder& g, const std::string& name, const Value& x) {
  return g.Node("LayerNormalization",
                {x, g.Uniform(name + ".weight", {kWidth}, 0.8F, 1.2F),
                 g.Uniform(name + ".bias", {kWidth}, -0.1F, 0.1F)},
                {{"axis", int64_t{-1}}, {"epsilon", 1e-5F}});
}

Value Scalar(GraphBuilder& g, const std::string& name, float value) {
  return g.Constant(name, {}, std::vector{value});
}

/// The approximation x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
Value TanhGelu(GraphBuilder& g, const Value& x) {
  const Value cube = g.Node("Pow", {x, Scalar(g, "three", 3)});
  const Value bent = g.Node("Add", {x, g.Node("Mul", {cube, Scalar(g, "gelu_cubic", 0.044715F)})});
  const Value root = Scalar(g, "root_two_over_pi", std::sqrt(2.0F / 3.14159265F));
  const Value tanh = g.Node("Tanh", {g.Node("Mul", {bent, root})});
  const Value gate = g.Node("Add", {tanh, Scalar(g, "one", 1)});
  return g.Node("Mul", {g.Node("Mul", {x, Scalar(g, "half", 0.5F)}), gate});
}

/// True where position i may look at position j, that is where j <= i.
Value CausalMask(GraphBuilder& g) {
  std::vector<bool> visible(kTokens * kTokens);
  for (int64_t i = 0; i < kTokens; ++i) {
    for (int64_t j = 0; j <= i; ++j) visible[i * kTokens + j] = true;
  }
  return g.Constant("attn.mask", {1, 1, kTokens, kTokens}, visible);
}

Value Attention(GraphBuilder& g, const Value& x) {
  const Value split_shape =
      g.Constant("split_shape", {4}, std::vector{int64_t{1}, kTokens, kHeads, kHeadWidth});
  const Value join_shape = g.Constant("join_shape", {3}, std::vector{int64_t{1}, kTokens, kWidth});
  const Value sizes = g.Constant("split_sizes", {3}, std::vector<int64_t>(3, kWidth));
  const std::vector<Value> parts = g.Node(
      "Split", {Dense(g, "attn.c_attn", x, kWidth, 3 * kWidth), sizes}, {{"axis", int64_t{2}}}, 3);
  const Value query = SplitHeads(g, parts[0], split_shape);
  const Value key_columns = g.Node("Transpose", {g.Node("Reshape", {parts[1], split_shape})},
                                   {{"perm", std::vector<int64_t>{0, 2, 3, 1}}});
  const Value value = SplitHeads(g, parts[2], split_shape);
  const Value root = Scalar(g, "root_head_width", std::sqrt(static_cast<float>(kHeadWidth)));
  const Value scores = g.Node("Div", {g.Node("MatMul", {query, key_columns}), root});
  const Value masked = g.Node("Where", {CausalMask(g), scores, Scalar(g, "hidden", -1e4F)});
  const Value weights = g.Node("Softmax", {masked}, {{"axis", int64_t{-1}}});
  const Value context = JoinHeads(g, g.Node("MatMul", {weights, value}), join_shape);
  return Dense(g, "attn.c_proj", context, kWidth, kWidth);
}

}  // namespace

GraphBuilder Gpt2Block(uint64_t seed) {
  GraphBuilder g("gpt2_block", 17, seed);
  Value x = g.Input("hidden_states", {1, kTokens, kWidth});
  x = g.Node("Add", {Attention(g, LayerNorm(g, "ln_1", x)), x});
  const Value wide = Dense(g, "mlp.c_fc", LayerNorm(g, "ln_2", x), kWidth, 4 * kWidth);
  const Value narrow = Dense(g, "mlp.c_proj", TanhGelu(g, wide), 4 * kWidth, kWidth);
  g.Output(g.Node("Add", {x, narrow}), {1, kTokens, kWidth});
  return g;
}

}  // namespace bayloom::models

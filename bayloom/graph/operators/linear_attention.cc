// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Linear attention: a state of [keys, values] per head is updated at every position and read by
/// its query (Katharopoulos et al. 2020; with gates and the delta rule Yang et al. 2024).
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/control_flow.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::Tensor;

/// The sizes of one call. Query head h reads the state of head h / (query_heads / heads).
struct LinearSizes {
  int64_t batch, positions, query_heads, heads, key, value;
};

LinearSizes ReadSizes(OperatorContext& context) {
  for (int i = 0; i < 3; ++i) {
    if (Rank(context.Input(i)) != 3) context.Refuse(fmt::format("input {} needs 3 dimensions", i));
  }
  const std::vector<int64_t> q = context.Input(0).shape(), k = context.Input(1).shape(),
                             v = context.Input(2).shape();
  LinearSizes sizes{q[0], q[1], context.Int("q_num_heads"), context.Int("kv_num_heads"), 0, 0};
  if (sizes.heads < 1 || sizes.query_heads < 1 || sizes.query_heads % sizes.heads != 0 ||
      q[2] % sizes.query_heads != 0 || v[2] % sizes.heads != 0) {
    context.Refuse("q_num_heads and kv_num_heads do not fit the inputs");
  }
  sizes.key = q[2] / sizes.query_heads;
  sizes.value = v[2] / sizes.heads;
  const std::vector<int64_t> keys = {sizes.batch, sizes.positions, sizes.heads * sizes.key};
  const std::vector<int64_t> values = {sizes.batch, sizes.positions, sizes.heads * sizes.value};
  if (k != keys || v != values) context.Refuse("query, key and value do not fit each other");
  if (sizes.positions < 1 || sizes.positions > kMaxIterations) {
    context.Refuse(
        fmt::format("{} positions; 1 to {} are supported", sizes.positions, kMaxIterations));
  }
  return sizes;
}

/// [batch, positions, heads * size] as [positions, batch, heads, size]: what a position reads lies
/// together.
Tensor PositionsFirst(OperatorContext& context, const Tensor& x, int64_t heads) {
  const std::vector<int64_t>& shape = x.shape();
  const Tensor split = context.builder().View(x, {shape[0], shape[1], heads, shape[2] / heads});
  return Permute(context, split, {1, 0, 2, 3});
}

/// An input of a factor per head, or as many as `wide` says; its positions come first.
std::optional<Tensor> Factors(OperatorContext& context, int input, const char* name, bool is_used,
                              const LinearSizes& sizes, int64_t wide) {
  if (context.HasInput(input) != is_used) {
    context.Refuse(fmt::format("this update_rule {} input {} ({})",
                               is_used ? "needs" : "does not take", input, name));
  }
  if (!is_used) return std::nullopt;
  const Tensor x = context.Input(input);
  const bool fits = Rank(x) == 3 && x.shape()[0] == sizes.batch &&
                    x.shape()[1] == sizes.positions &&
                    (x.shape()[2] == sizes.heads || x.shape()[2] == wide);
  if (!fits) {
    context.Refuse(
        fmt::format("{} does not fit the heads: {}", name, ToString(x.dtype(), x.shape())));
  }
  return PositionsFirst(context, x, x.shape()[2] == 1 ? 1 : sizes.heads);
}

/// One call, position after position.
class LinearAttentionImport {
 public:
  explicit LinearAttentionImport(OperatorContext& context)
      : context_(context), sizes_(ReadSizes(context)) {
    const std::string rule = context.String("update_rule", "gated_delta");
    const bool gated = rule == "gated" || rule == "gated_delta";
    const bool corrected = rule == "delta" || rule == "gated_delta";
    if (!gated && !corrected && rule != "linear") {
      context.RefuseAttribute("update_rule", rule, "has to be linear, gated, delta or gated_delta");
    }
    decay_ = Factors(context, 4, "decay", gated, sizes_, sizes_.heads * sizes_.key);
    beta_ = Factors(context, 5, "beta", corrected, sizes_, 1);
    if (context.HasInput(3)) {
      state_ = context.Input(3);
      if (state_->shape() != StateShape()) {
        context.Refuse(fmt::format("past_state is {}, not {}",
                                   ToString(state_->dtype(), state_->shape()),
                                   ToString(state_->dtype(), StateShape())));
      }
    }
    const double scale = context.Float("scale", 0.0f);
    scale_ = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(sizes_.key));
  }

  void Run() {
    const Tensor q = PositionsFirst(context_, context_.Input(0), sizes_.query_heads);
    const Tensor k = PositionsFirst(context_, context_.Input(1), sizes_.heads);
    const Tensor v = PositionsFirst(context_, context_.Input(2), sizes_.heads);
    std::vector<Tensor> outputs;
    for (int64_t t = 0; t < sizes_.positions; ++t) {
      Update(t, PartOf(context_, k, t), PartOf(context_, v, t));
      outputs.push_back(Read(PartOf(context_, q, t)));
    }
    const int64_t count = std::ssize(outputs);
    const Tensor stacked =
        Permute(context_, Stack(context_, std::move(outputs), count), {1, 0, 2, 3});
    context_.SetOutput(0, context_.builder().View(stacked, {sizes_.batch, sizes_.positions,
                                                            sizes_.query_heads * sizes_.value}));
    if (!context_.WantsOutput(1)) return;
    const int given = context_.InputType(3);
    context_.SetOutput(
        1, NamedValue{.tensor = state_, .type = given != 0 ? given : context_.InputType(0)});
  }

 private:
  std::vector<int64_t> StateShape() const {
    return {sizes_.batch, sizes_.heads, sizes_.key, sizes_.value};
  }

  /// The state, faded, plus the product of the key and what is to be stored under it.
  void Update(int64_t t, const Tensor& k, const Tensor& v) {
    GraphBuilder& builder = context_.builder();
    if (state_ && decay_) {
      const Tensor decay = PartOf(context_, *decay_, t), state = *state_;
      const bool per_key = decay.shape()[2] == sizes_.key;
      state_ = builder.Map("linearattention.decay", StateShape(), [&](const Exprs& at) {
        return state.At(at) *
               tensor::Unary(tensor::ExprOp::kExp, decay(at[0], at[1], per_key ? at[2] : Expr(0)));
      });
    }
    const Tensor stored = beta_ ? Corrected(t, k, v) : v;
    state_ = builder.Map("linearattention.state", StateShape(), [&](const Exprs& at) {
      const Expr product = k(at[0], at[1], at[2]) * stored(at[0], at[1], at[3]);
      return state_ ? state_->At(at) + product : product;
    });
  }

  /// The delta rule: what differs from what the state holds under the key, times beta.
  Tensor Corrected(int64_t t, const Tensor& k, const Tensor& v) {
    const Tensor beta = PartOf(context_, *beta_, t);
    const bool is_shared = beta.shape()[1] == 1;
    std::optional<Tensor> held;
    if (state_) held = SumOverKeys("linearattention.held", k, 1, 1);
    return context_.builder().Map("linearattention.delta", v.shape(), [&](const Exprs& at) {
      const Expr factor = beta(at[0], is_shared ? Expr(0) : at[1], Expr(0));
      return factor * (held ? v.At(at) - held->At(at) : v.At(at));
    });
  }

  Tensor Read(const Tensor& q) {
    return SumOverKeys("linearattention.read", q, sizes_.query_heads / sizes_.heads, scale_);
  }

  /// scale * sum over the keys of x[batch, head, key] * state[batch, head / group, key, value].
  Tensor SumOverKeys(const char* op, const Tensor& x, int64_t group, double scale) {
    const Tensor state = *state_;
    const Tensor sum = context_.builder().Reduce(
        op, {sizes_.batch, sizes_.heads * group, sizes_.value}, {{"k", sizes_.key}},
        tensor::Reduction::kSum, [&](const Exprs& at, const Exprs& key) {
          const Expr head = group == 1 ? at[1] : tensor::FloorDiv(at[1], Expr(group));
          return x(at[0], at[1], key[0]) * state(at[0], head, key[0], at[2]);
        });
    if (scale == 1) return sum;
    return Elementwise(context_, op, sum, [&](const Expr& e) { return e * LiteralLike(scale, e); });
  }

  OperatorContext& context_;
  const LinearSizes sizes_;
  std::optional<Tensor> state_, decay_, beta_;
  double scale_ = 1;
};

void LinearAttention(OperatorContext& context) { LinearAttentionImport(context).Run(); }

}  // namespace

std::span<const Operator> LinearAttentionOperators() {
  static const Operator operators[] = {{"LinearAttention", LinearAttention}};
  return operators;
}

}  // namespace bayloom::graph

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Mixtures of experts beside their definition, token by token.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;
using Row = std::vector<double>;

constexpr int64_t kExperts = 4, kChosen = 2, kWidth = 32, kInner = 16, kBlock = 16;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Weights [experts, out, in], as floats or as levels with scales.
struct Weights {
  int64_t out, in, bits;  ///< 32 bits: floats
  uint64_t seed;
  int64_t per_byte() const { return 8 / bits; }
  HostTensor floats = RandomTensor({kExperts, out, in}, seed);
  HostTensor levels =
      RandomIntegers(DType::kUInt8, {kExperts, out, bits < 32 ? in* bits / 8 : 1}, 0, 256, seed);
  HostTensor scales = RandomTensor({kExperts, out, in / kBlock}, seed + 1);

  double Get(int64_t expert, int64_t row, int64_t k) const {
    const int64_t line = expert * out + row;
    if (bits == 32) return floats.Get(line * in + k);
    const int64_t byte = levels.GetInt(line * in / per_byte() + k / per_byte());
    const int64_t level = byte >> (k % per_byte() * bits) & ((1 << bits) - 1);
    return static_cast<double>(level - (1 << (bits - 1))) * scales.Get((line * in + k) / kBlock);
  }
  Row Times(int64_t expert, const Row& x) const {
    Row y(static_cast<size_t>(out));
    for (int64_t r = 0; r < out; ++r) {
      for (int64_t k = 0; k < in; ++k) y[r] += Get(expert, r, k) * x[k];
    }
    return y;
  }
};

struct Mixture {
  int64_t tokens, bits;
  bool among_chosen;
  Weights first{2 * kInner, kWidth, bits, 1}, second{kWidth, kInner, bits, 3};
  HostTensor x = RandomTensor({tokens, kWidth}, 5), router = RandomTensor({tokens, kExperts}, 6);

  /// Interleaved gates, with alpha and beta.
  Graph Import() const {
    ModelWriter model;
    const std::string in = model.Input(DType::kFloat32, {tokens, kWidth});
    const std::string logits = model.Input(DType::kFloat32, {tokens, kExperts});
    std::vector<std::string> inputs = {in, logits};
    const auto add = [&](const Weights& w) {
      inputs.push_back(model.Constant(bits == 32 ? w.floats : w.levels));
      if (bits < 32) inputs.push_back(model.Constant(w.scales));
    };
    add(first);
    inputs.emplace_back();
    add(second);
    ModelWriter::Attributes attributes = {{"k", kChosen},
                                          {"activation_type", "swiglu"},
                                          {"swiglu_fusion", int64_t{1}},
                                          {"activation_alpha", 1.5f},
                                          {"activation_beta", 1.0f},
                                          {"normalize_routing_weights", int64_t{among_chosen}}};
    if (bits < 32) {
      attributes.push_back({"expert_weight_bits", bits});
      attributes.push_back({"block_size", kBlock});
    }
    model.Output(model.Node(bits == 32 ? "MoE" : "QMoE", inputs, attributes, "com.microsoft"));
    return model.Import();
  }

  std::vector<double> Expected() const {
    std::vector<double> all;
    for (int64_t t = 0; t < tokens; ++t) {
      const Row y = OfToken(t);
      all.insert(all.end(), y.begin(), y.end());
    }
    return all;
  }

 private:
  Row OfToken(int64_t t) const {
    std::vector<int64_t> order(kExperts);
    std::iota(order.begin(), order.end(), 0);
    const auto logit = [&](int64_t e) { return router.Get(t * kExperts + e); };
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return logit(a) > logit(b); });
    double sum = 0;
    for (int64_t i = 0; i < (among_chosen ? kChosen : kExperts); ++i)
      sum += std::exp(logit(order[i]));
    Row token(kWidth), result(kWidth);
    for (int64_t k = 0; k < kWidth; ++k) token[k] = x.Get(t * kWidth + k);
    for (int64_t i = 0; i < kChosen; ++i) {
      const Row h = first.Times(order[i], token);
      Row gated(kInner);
      for (int64_t f = 0; f < kInner; ++f) {
        gated[f] = h[2 * f] * Sigmoid(1.5 * h[2 * f]) * (h[2 * f + 1] + 1);
      }
      const Row y = second.Times(order[i], gated);
      for (int64_t k = 0; k < kWidth; ++k) result[k] += std::exp(logit(order[i])) / sum * y[k];
    }
    return result;
  }
};

/// Few tokens read the experts that were chosen for each, many in groups of one expert.
TEST(Experts, AreMixedAsDefined) {
  for (const auto& [bits, among_chosen] :
       {std::pair<int64_t, bool>{32, false}, {32, true}, {2, true}, {4, true}, {8, true}}) {
    for (int64_t tokens : {1, 2, 9, 40}) {
      SCOPED_TRACE(std::to_string(bits) + " bits, tokens " + std::to_string(tokens));
      const Mixture mixture{tokens, bits, among_chosen};
      Graph graph = mixture.Import();
      const std::vector<double> expected = mixture.Expected();
      double largest = 0;
      for (double y : expected) largest = std::max(largest, std::abs(y));
      const std::vector<HostTensor> inputs = {mixture.x, mixture.router};
      const HostTensor evaluated = EvaluateGraph(graph, inputs)[0];
      Optimize(graph);
      const HostTensor compiled = RunCompiled(ExtractTasks(graph), inputs)[0];
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(evaluated.Get(static_cast<int64_t>(i)), expected[i], 1e-4 * largest) << i;
        ASSERT_NEAR(compiled.Get(static_cast<int64_t>(i)), expected[i], 1e-4 * largest) << i;
      }
    }
  }
}

}  // namespace
}  // namespace bayloom::graph

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "examples/models/layers.h"
#include "tests/graph/small_models.h"

namespace bayloom::graph {
namespace {

models::Value Concat(models::GraphBuilder& g, const std::vector<models::Value>& parts) {
  return g.Node("Concat", parts, {{"axis", int64_t{1}}});
}

models::Value Flat(models::GraphBuilder& g, const models::Value& x) {
  return g.Node("Flatten", {g.Node("GlobalAveragePool", {x})});
}

}  // namespace

SmallModel SmallDenseNetwork(int batch) {
  constexpr int64_t kFirst = 16, kGrowth = 16;
  models::GraphBuilder g("small_densenet", 13, 8);
  models::Value x = g.Input("image", {batch, 3, 9, 9});
  x = g.Node("Relu", {models::ConvBn(g, "stem", x, {3, kFirst, 3, 1, 1}, 1)});
  std::vector<models::Value> features = {x};
  int64_t channels = kFirst;
  for (const char* layer : {"a", "b", "c"}) {
    const models::Value all = features.size() == 1 ? x : Concat(g, features);
    const std::string name = layer;
    const models::Value active = models::BnRelu(g, name + ".bn", all, channels);
    features.push_back(BareConv(g, name, active, {channels, kGrowth, 3, 1, 1}, models::kAfterRelu));
    channels += kGrowth;
  }
  const models::Value active = models::BnRelu(g, "transition.bn", Concat(g, features), channels);
  x = AveragePool(g, BareConv(g, "transition", active, {channels, 8}, models::kAfterRelu), 2, 2);
  g.Output(Flat(g, models::BnRelu(g, "last", x, 8)), {batch, 8});
  return SmallModel("densenet", std::move(g));
}

SmallModel SmallInceptionNetwork(int batch) {
  models::GraphBuilder g("small_inception", 13, 9);
  int count = 0;
  const auto conv = [&](const models::Value& x, int64_t in, int64_t out,
                        const models::Window& window) {
    const std::string name = "conv" + std::to_string(count++);
    return g.Node("Relu", {WindowConvBn(g, name, x, in, out, window, models::kAfterRelu)});
  };
  models::Value x = conv(g.Input("image", {batch, 3, 13, 13}), 3, 16, {3, 3, 2});
  const models::Value deep =
      conv(conv(conv(x, 16, 8, {1, 1}), 8, 8, {1, 5, 1, 0, 2}), 8, 16, {5, 1, 1, 2, 0});
  const models::Value pooled = conv(AveragePool(g, x, 3, 1, 1), 16, 16, {1, 1});
  x = Concat(g, {conv(x, 16, 20, {1, 1}), deep, pooled});
  x = Concat(g, {conv(x, 52, 24, {3, 3, 2}), MaxPool(g, x, 3, 2)});
  const models::Value crossed = conv(x, 76, 16, {1, 1});
  x = Concat(g,
             {conv(crossed, 16, 16, {1, 3, 1, 0, 1}), conv(crossed, 16, 16, {3, 1, 1, 1, 0}), x});
  g.Output(Flat(g, x), {batch, 108});
  return SmallModel("inception", std::move(g));
}

}  // namespace bayloom::graph

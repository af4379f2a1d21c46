// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "examples/models/layers.h"
#include "examples/models/models.h"

namespace bayloom::models {
namespace {

/// Squeeze to few channels, then expand by 1 x 1 and 3 x 3 convolutions, half of the outputs each.
Value Fire(GraphBuilder& g, const std::string& name, const Value& x, int64_t in, int64_t squeeze,
           int64_t out) {
  const Value y = ConvRelu(g, name + ".squeeze", x, {in, squeeze}, kAfterRelu);
  const Value narrow = ConvRelu(g, name + ".expand1x1", y, {squeeze, out / 2}, kAfterRelu);
  const Value wide = ConvRelu(g, name + ".expand3x3", y, {squeeze, out / 2, 3, 1, 1}, kAfterRelu);
  return g.Node("Concat", {narrow, wide}, {{"axis", int64_t{1}}});
}

}  // namespace

GraphBuilder SqueezeNet11(uint64_t seed) {
  GraphBuilder g("squeezenet1.1", 13, seed);
  Value x = g.Input("input", {1, 3, 224, 224});
  x = ConvRelu(g, "conv1", x, {3, 64, 3, 2}, kAfterLinear);
  x = MaxPool(g, x, 3, 2);
  x = Fire(g, "fire2", x, 64, 16, 128);
  x = Fire(g, "fire3", x, 128, 16, 128);
  x = MaxPool(g, x, 3, 2);
  x = Fire(g, "fire4", x, 128, 32, 256);
  x = Fire(g, "fire5", x, 256, 32, 256);
  x = MaxPool(g, x, 3, 2);
  x = Fire(g, "fire6", x, 256, 48, 384);
  x = Fire(g, "fire7", x, 384, 48, 384);
  x = Fire(g, "fire8", x, 384, 64, 512);
  x = Fire(g, "fire9", x, 512, 64, 512);
  x = ConvRelu(g, "conv10", x, {512, 1000}, kAfterRelu);
  x = g.Node("GlobalAveragePool", {x});
  g.Output(g.Node("Flatten", {x}, {{"axis", int64_t{1}}}), {1, 1000});
  return g;
}

}  // namespace bayloom::models

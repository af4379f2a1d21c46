// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "examples/models/layers.h"
#include "examples/models/models.h"

namespace bayloom::models {

GraphBuilder Vgg16(uint64_t seed) {
  struct Group {
    int convolutions;
    int64_t channels;
  };
  constexpr Group kGroups[] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};

  GraphBuilder g("vgg16", 13, seed);
  Value x = g.Input("input", {1, 3, 224, 224});
  int64_t in = 3;
  int index = 0;
  for (const Group& group : kGroups) {
    for (int i = 0; i < group.convolutions; ++i) {
      const double gain = index == 0 ? kAfterLinear : kAfterRelu;
      x = ConvRelu(g, "features." + std::to_string(index++), x, {in, group.channels, 3, 1, 1},
                   gain);
      in = group.channels;
    }
    x = MaxPool(g, x, 2, 2);
  }
  x = g.Node("Flatten", {x}, {{"axis", int64_t{1}}});
  x = g.Node("Relu", {FullyConnected(g, "classifier.0", x, 512 * 7 * 7, 4096, kAfterRelu)});
  x = g.Node("Relu", {FullyConnected(g, "classifier.1", x, 4096, 4096, kAfterRelu)});
  g.Output(FullyConnected(g, "classifier.2", x, 4096, 1000, kAfterRelu), {1, 1000});
  return g;
}

}  // namespace bayloom::models

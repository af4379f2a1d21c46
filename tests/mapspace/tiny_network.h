// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/mapspace/fused/depth_first.h"

namespace bayloom::mapspace {

/// Networks of a few operators over images [1, channels, rows, columns], which say element by
/// element what they read.
class TinyNetwork {
 public:
  enum class Kind { kConvolution, kDepthwise, kPool, kAdd, kConcatenate, kMean, kScale };
  struct Layer {
    Kind kind;
    std::vector<int> inputs;  ///< tensors
    int output = 0;
    int64_t kernel = 1, stride = 1, pad = 0;
  };

  int Input(int64_t channels, int64_t rows, int64_t columns);
  int Convolution(int input, int64_t channels, int64_t kernel, int64_t stride, int64_t pad);
  int Depthwise(int input, int64_t kernel, int64_t stride, int64_t pad);
  int Pool(int input, int64_t kernel, int64_t stride, int64_t pad);
  int Add(int a, int b);
  /// Two tensors, one behind the other, each with the channels that it has.
  int Concatenate(int a, int b);
  /// A scalar: of all elements of a tensor.
  int Mean(int input);
  /// A tensor times a scalar.
  int Scale(int input, int scalar);
  /// A chain with residual branches and concatenations, all read up to its last operator; with
  /// `has_scalar`, scaled by a mean before that.
  static TinyNetwork Random(base::RandomStream& random, bool has_scalar = false);

  /// With the last operator's result as its output.
  FusedNetwork Build() const;
  const std::vector<Layer>& layers() const { return layers_; }
  const std::vector<int64_t>& shape(int tensor) const { return shapes_[tensor]; }

 private:
  int AddLayer(Layer layer, std::vector<int64_t> shape);
  int AddWindow(Kind kind, int input, int64_t channels, int64_t kernel, int64_t stride,
                int64_t pad);

  std::vector<Layer> layers_;
  std::vector<std::vector<int64_t>> shapes_;
};

/// What running all layers of a network tile by tile does, found by going through every element.
struct TileSimulation {
  std::vector<int64_t> computed;  ///< of every tensor, elements computed or read from outside
  int64_t kept = 0;               ///< the most that are kept for later tiles between two tiles
};
TileSimulation SimulateTiles(const TinyNetwork& network, const DepthFirstTiling& tiling);

}  // namespace bayloom::mapspace

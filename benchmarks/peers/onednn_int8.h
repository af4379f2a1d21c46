// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/shapes.h"

namespace bayloom {

/// What layers of quantized networks compute with: products of bytes, summed up in int32, become
/// bytes again, round((sums + bias) * scale) clipped to 0 .. 255.
struct QuantizedLayerData {
  std::span<const uint8_t> input;
  std::span<const int8_t> weights;
  std::span<const int32_t> bias;  ///< by output channel or column
  std::span<const float> scale;   ///< the same
};

/// oneDNN's layer of a quantized network at its best: formats of its own choice for image and
/// weights, everything reordered ahead, the algorithm its own choice too. Only `Run` is to be
/// timed.
class PeerQuantizedLayer {
 public:
  /// A convolution: input [height, width, in], weights [kernel, kernel, in, out].
  PeerQuantizedLayer(const ConvolutionLayer& shape, const QuantizedLayerData& data, int threads);
  /// A product: input [m, k], weights [k, n].
  PeerQuantizedLayer(int64_t m, int64_t n, int64_t k, const QuantizedLayerData& data, int threads);
  ~PeerQuantizedLayer();

  void Run();
  /// What the last run computed, as [height, width, out] or [m, n].
  std::vector<uint8_t> Output() const;
  /// The implementation oneDNN chose.
  std::string Implementation() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bayloom

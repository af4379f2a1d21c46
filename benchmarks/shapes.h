// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bayloom {

/// A convolution of one channels-last image with bias and ReLU, square in kernel, stride and
/// padding. `groups` equal to `in` and `out` makes it depthwise.
struct ConvolutionLayer {
  std::string name;
  int64_t height;  ///< of the input; the width is the same
  int64_t in;
  int64_t out;
  int64_t kernel;
  int64_t stride;
  int64_t padding;
  int64_t groups = 1;

  int64_t OutputHeight() const { return (height + 2 * padding - kernel) / stride + 1; }
  int64_t InputCount() const { return height * height * in; }
  int64_t OutputCount() const { return OutputHeight() * OutputHeight() * out; }
  int64_t WeightCount() const { return kernel * kernel * (in / groups) * out; }
  /// A multiply-add counts two; bias and ReLU are left out.
  double Flops() const {
    return 2.0 * static_cast<double>(OutputCount()) *
           static_cast<double>(kernel * kernel * (in / groups));
  }
};

/// Ten convolutions of ResNet-50: every resolution, both kernel sizes, reducing and expanding,
/// with and without stride.
inline const std::vector<ConvolutionLayer>& ResNet50Convolutions() {
  static const std::vector<ConvolutionLayer> shapes = {
      {"conv1", 224, 3, 64, 7, 2, 3},
      {"layer1.3x3", 56, 64, 64, 3, 1, 1},
      {"layer1.reduce", 56, 256, 64, 1, 1, 0},
      {"layer1.expand", 56, 64, 256, 1, 1, 0},
      {"layer2.3x3", 28, 128, 128, 3, 1, 1},
      {"layer2.expand", 28, 128, 512, 1, 1, 0},
      {"layer2.shortcut", 56, 256, 512, 1, 2, 0},
      {"layer3.3x3", 14, 256, 256, 3, 1, 1},
      {"layer3.reduce", 14, 1024, 256, 1, 1, 0},
      {"layer4.3x3", 7, 512, 512, 3, 1, 1},
  };
  return shapes;
}

/// The depthwise convolutions of MobileNet v2 that differ in more than their channels' number.
inline const std::vector<ConvolutionLayer>& MobileNetDepthwiseConvolutions() {
  static const std::vector<ConvolutionLayer> shapes = {
      {"depthwise.112", 112, 32, 32, 3, 1, 1, 32},  {"depthwise.112/2", 112, 96, 96, 3, 2, 1, 96},
      {"depthwise.56", 56, 144, 144, 3, 1, 1, 144}, {"depthwise.56/2", 56, 144, 144, 3, 2, 1, 144},
      {"depthwise.28", 28, 192, 192, 3, 1, 1, 192}, {"depthwise.28/2", 28, 192, 192, 3, 2, 1, 192},
      {"depthwise.14", 14, 576, 576, 3, 1, 1, 576}, {"depthwise.7", 7, 960, 960, 3, 1, 1, 960},
  };
  return shapes;
}

/// 1 x 1 convolutions of MobileNet v2, expanding and projecting at every resolution.
inline const std::vector<ConvolutionLayer>& MobileNetPointwiseConvolutions() {
  static const std::vector<ConvolutionLayer> shapes = {
      {"project.112", 112, 32, 16, 1, 1, 0}, {"expand.112", 112, 16, 96, 1, 1, 0},
      {"expand.56", 56, 24, 144, 1, 1, 0},   {"project.56", 56, 144, 24, 1, 1, 0},
      {"expand.28", 28, 32, 192, 1, 1, 0},   {"project.14", 14, 384, 96, 1, 1, 0},
      {"expand.7", 7, 160, 960, 1, 1, 0},    {"head.7", 7, 320, 1280, 1, 1, 0},
  };
  return shapes;
}

}  // namespace bayloom

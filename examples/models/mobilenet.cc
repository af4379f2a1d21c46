// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "examples/models/layers.h"
#include "examples/models/models.h"

namespace bayloom::models {
namespace {

/// One row of the architecture's table: `blocks` inverted residuals, the first with `stride`.
struct StageSpec {
  int64_t expansion;
  int64_t channels;
  int blocks;
  int64_t stride;
};

constexpr StageSpec kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                 {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

class MobileNet {
 public:
  explicit MobileNet(uint64_t seed) : g_("mobilenet_v2", 13, seed) {}

  GraphBuilder Build() && {
    Value x = g_.Input("input", {1, 3, 224, 224});
    zero_ = g_.Constant("zero", {}, std::vector{0.0F});
    six_ = g_.Constant("six", {}, std::vector{6.0F});
    x = Relu6(ConvBn(g_, "features.0", x, {3, 32, 3, 2, 1}, kAfterLinear));
    int64_t in = 32;
    int index = 1;
    for (const StageSpec& stage : kStages) {
      for (int i = 0; i < stage.blocks; ++i) {
        const std::string name = "features." + std::to_string(index++);
        x = InvertedResidual(name, x, in, stage, i == 0 ? stage.stride : 1);
        in = stage.channels;
      }
    }
    x = Relu6(ConvBn(g_, "features." + std::to_string(index), x, {in, 1280}, kAfterLinear));
    Classify(g_, "classifier", x, 1280);
    return std::move(g_);
  }

 private:
  Value Relu6(const Value& x) { return g_.Node("Clip", {x, zero_, six_}); }

  Value InvertedResidual(const std::string& name, const Value& x, int64_t in,
                         const StageSpec& stage, int64_t stride) {
    const int64_t wide = stage.expansion * in;
    const bool residual = stride == 1 && in == stage.channels;
    Value y = x;
    if (stage.expansion != 1) {
      y = Relu6(ConvBn(g_, name + ".expand", y, {in, wide}, kAfterLinear));
    }
    y = Relu6(ConvBn(g_, name + ".depthwise", y, {wide, wide, 3, stride, 1, wide}, kAfterRelu));
    y = ConvBn(g_, name + ".project", y, {wide, stage.channels}, kAfterRelu, residual ? 0.5 : 1);
    return residual ? g_.Node("Add", {x, y}) : y;
  }

  GraphBuilder g_;
  Value zero_;
  Value six_;
};

}  // namespace

GraphBuilder MobileNetV2(uint64_t seed) { return MobileNet(seed).Build(); }

}  // namespace bayloom::models

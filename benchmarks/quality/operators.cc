// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/quality/operators.h"

#include <fmt/format.h>

#include "bayloom/base/random.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "benchmarks/peers/convolution.h"
#include "benchmarks/peers/matmul.h"
#include "benchmarks/shapes.h"

namespace bayloom {
namespace {

/// Both factors are inputs, as they are OpenBLAS's: packing them is part of the time.
tensor::Workload SquareMatmul(int64_t size) {
  tensor::WorkloadBuilder b(fmt::format("matmul.{}", size));
  const tensor::Tensor x = b.Input("a", {size, size}), y = b.Input("b", {size, size});
  const tensor::Tensor c =
      b.Reduce("c", {size, size}, {{"k", size}}, tensor::Reduction::kSum,
               [&](const auto& s, const auto& r) { return x(s[0], r[0]) * y(r[0], s[1]); });
  return b.Build({c});
}

OperatorCase MatmulCase(int64_t size) {
  auto make_peer = [size](const OperatorData& data, int threads) {
    auto c = std::make_shared<std::vector<float>>(size * size);
    auto peer = std::make_shared<PeerMatmul>(size, size, size, data[0], data[1], *c, threads);
    return Peer{"OpenBLAS " + PeerMatmul::Implementation(), [peer] { peer->Run(); },
                [c, peer] { return *c; }};
  };
  return {"matmul", fmt::format("matmul.{}", size), SquareMatmul(size), make_peer};
}

OperatorCase ConvolutionCase(const std::string& group, const ConvolutionLayer& shape) {
  const std::string line =
      shape.groups > 1
          ? fmt::format("depthwise:{0}x{0}x{1},{2}x{2}", shape.height, shape.in, shape.kernel)
          : fmt::format("conv2d:{0}x{0}x{1},{2},{3}x{3}", shape.height, shape.in, shape.out,
                        shape.kernel);
  auto make_peer = [shape](const OperatorData& data, int threads) {
    auto peer = std::make_shared<PeerConvolution>(shape, data[0], data[1], data[2], threads);
    return Peer{"oneDNN " + peer->Implementation(), [peer] { peer->Run(); },
                [peer] { return peer->Output(); }};
  };
  return {group, shape.name,
          tensor::ParseOperator(
              fmt::format("{},stride={},pad={},bias,relu", line, shape.stride, shape.padding)),
          make_peer};
}

}  // namespace

std::vector<OperatorCase> AllOperatorCases() {
  std::vector<OperatorCase> all = {MatmulCase(512), MatmulCase(1024)};
  for (const ConvolutionLayer& shape : ResNet50Convolutions()) {
    all.push_back(ConvolutionCase("resnet50", shape));
  }
  for (const ConvolutionLayer& shape : MobileNetDepthwiseConvolutions()) {
    all.push_back(ConvolutionCase("mobilenet.depthwise", shape));
  }
  for (const ConvolutionLayer& shape : MobileNetPointwiseConvolutions()) {
    all.push_back(ConvolutionCase("mobilenet.pointwise", shape));
  }
  return all;
}

OperatorData RandomData(const tensor::Workload& workload) {
  base::RandomStream random(1);
  OperatorData data;
  for (tensor::BufferId id : workload.Parameters()) {
    const tensor::Buffer& buffer = workload.buffers[id];
    if (buffer.role == tensor::BufferRole::kOutput) continue;
    std::vector<float> values(buffer.ElementCount());
    for (float& value : values) value = static_cast<float>(random.Uniform() - 0.5);
    data.push_back(std::move(values));
  }
  return data;
}

}  // namespace bayloom

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/quality/operators.h"

#include <fmt/format.h>

#include <cmath>

#include "bayloom/base/random.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tensor/quantized_operators.h"
#include "benchmarks/peers/convolution.h"
#include "benchmarks/peers/matmul.h"
#include "benchmarks/peers/onednn_int8.h"
#include "benchmarks/shapes.h"

namespace bayloom {
namespace {

template <class Value>
std::span<const Value> ValuesOf(const tensor::HostTensor& values) {
  return {reinterpret_cast<const Value*>(values.data.data()),
          static_cast<size_t>(values.ElementCount())};
}

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
    auto peer = std::make_shared<PeerMatmul>(size, size, size, ValuesOf<float>(data[0]),
                                             ValuesOf<float>(data[1]), *c, threads);
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
    auto peer =
        std::make_shared<PeerConvolution>(shape, ValuesOf<float>(data[0]), ValuesOf<float>(data[1]),
                                          ValuesOf<float>(data[2]), threads);
    return Peer{"oneDNN " + peer->Implementation(), [peer] { peer->Run(); },
                [peer] { return peer->Output(); }};
  };
  return {group, shape.name,
          tensor::ParseOperator(
              fmt::format("{},stride={},pad={},bias,relu", line, shape.stride, shape.padding)),
          make_peer};
}

Peer QuantizedPeer(std::shared_ptr<PeerQuantizedLayer> peer) {
  constexpr double kOneQuantum = 1.01 / 255;
  const auto output = [peer] {
    const std::vector<uint8_t> bytes = peer->Output();
    return std::vector<float>(bytes.begin(), bytes.end());
  };
  return {"oneDNN " + peer->Implementation(), [peer] { peer->Run(); }, output, kOneQuantum};
}

QuantizedLayerData LayerData(const OperatorData& data) {
  return {ValuesOf<uint8_t>(data[0]), ValuesOf<int8_t>(data[1]), ValuesOf<int32_t>(data[2]),
          ValuesOf<float>(data[3])};
}

OperatorCase QuantizedMatmulCase(int64_t m, int64_t n, int64_t k) {
  auto make_peer = [m, n, k](const OperatorData& data, int threads) {
    return QuantizedPeer(std::make_shared<PeerQuantizedLayer>(m, n, k, LayerData(data), threads));
  };
  return {"int8.matmul", fmt::format("int8.{}x{}x{}", m, n, k),
          tensor::QuantizedMatmulWorkload(m, n, k), make_peer};
}

OperatorCase QuantizedConvolutionCase(const ConvolutionLayer& layer) {
  tensor::Conv2dShape shape;
  shape.height = shape.width = layer.height;
  shape.in_channels = layer.in;
  shape.out_channels = layer.out;
  shape.kernel = {layer.kernel, layer.kernel};
  shape.options.stride = {layer.stride, layer.stride};
  shape.options.pad_before = shape.options.pad_after = {layer.padding, layer.padding};
  auto make_peer = [layer](const OperatorData& data, int threads) {
    return QuantizedPeer(std::make_shared<PeerQuantizedLayer>(layer, LayerData(data), threads));
  };
  return {"int8.resnet50", "int8." + layer.name, tensor::QuantizedConv2dWorkload(shape), make_peer};
}

/// Products that an element of the workload's sums is made of.
int64_t TermsOf(const tensor::Workload& workload) {
  int64_t terms = 1;
  for (const tensor::Stage& stage : workload.stages) {
    for (const tensor::Iter& iter : stage.iters) {
      if (iter.kind == tensor::IterKind::kReduction) terms *= iter.extent;
    }
  }
  return terms;
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
  for (const ConvolutionLayer& shape : ResNet50Convolutions()) {
    // The three channels of an image are four in a network: it pads them before.
    if (shape.in % 4 == 0) all.push_back(QuantizedConvolutionCase(shape));
  }
  all.push_back(QuantizedMatmulCase(512, 512, 512));
  all.push_back(QuantizedMatmulCase(1024, 1024, 1024));
  all.push_back(QuantizedMatmulCase(128, 768, 768));   // of BERT-base, 128 words
  all.push_back(QuantizedMatmulCase(128, 3072, 768));  // the same, the wide layer
  return all;
}

OperatorData RandomData(const tensor::Workload& workload) {
  base::RandomStream random(1);
  OperatorData data;
  const bool is_quantized = tensor::ByteSize(workload.buffers[0].dtype) == 1;
  // A byte times a byte is some 10,800 in the root mean square.
  const double scale = 100 / (10800 * std::sqrt(static_cast<double>(TermsOf(workload))));
  for (tensor::BufferId id : workload.Parameters()) {
    const tensor::Buffer& buffer = workload.buffers[id];
    if (buffer.role == tensor::BufferRole::kOutput) continue;
    tensor::HostTensor values = tensor::HostTensor::Zeros(buffer.dtype, buffer.shape);
    for (int64_t i = 0; i < values.ElementCount(); ++i) {
      if (buffer.dtype == tensor::DType::kFloat32) {
        const double uniform = random.Uniform();
        values.Set(i, is_quantized ? scale * (0.5 + uniform) : uniform - 0.5);
      } else {
        values.SetInt(i,
                      random.UniformInt(256) - (buffer.dtype == tensor::DType::kUInt8 ? 0 : 128));
      }
    }
    data.push_back(std::move(values));
  }
  return data;
}

}  // namespace bayloom

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/quantized_operators.h"

namespace bayloom::testing {

/// A workload small enough to interpret in milliseconds.
struct NamedWorkload {
  std::string name;
  tensor::Workload workload;
};
/// For GoogleTest.
inline void PrintTo(const NamedWorkload& named, std::ostream* out) { *out << named.name; }

inline tensor::Conv2dShape ConvShape(int64_t size, int64_t in, int64_t out, int64_t kernel,
                                     int64_t pad = 0) {
  tensor::Conv2dShape shape;
  shape.height = shape.width = size;
  shape.in_channels = in;
  shape.out_channels = out;
  shape.kernel = {kernel, kernel};
  shape.options.pad_before = shape.options.pad_after = {pad, pad};
  return shape;
}

template <typename Write>
tensor::Workload OneInput(std::vector<int64_t> shape, const Write& write,
                          tensor::DType dtype = tensor::DType::kFloat32) {
  tensor::WorkloadBuilder b("test");
  const tensor::Tensor x = b.Input("x", std::move(shape), dtype);
  return b.Build({write(b, x)});
}

inline std::vector<NamedWorkload> ConvolutionCatalogue() {
  std::vector<NamedWorkload> all;
  const auto conv = [&](const std::string& name, tensor::Conv2dShape shape, auto change) {
    change(shape);
    all.push_back({name, tensor::Conv2dWorkload(shape)});
  };
  using Shape = tensor::Conv2dShape;
  conv("conv2d", ConvShape(8, 4, 8, 3), [](Shape&) {});
  conv("conv2d_pad", ConvShape(7, 3, 8, 3, 1), [](Shape&) {});
  conv("conv2d_stride", ConvShape(13, 3, 4, 3, 1), [](Shape& s) { s.options.stride = {2, 2}; });
  conv("conv2d_dilation", ConvShape(11, 2, 5, 3), [](Shape& s) { s.options.dilation = {2, 3}; });
  conv("conv2d_uneven", ConvShape(9, 3, 4, 3), [](Shape& s) {
    s.width = 6;
    s.kernel = {1, 4};
    s.options.pad_before = {0, 2};
    s.options.pad_after = {0, 1};
    s.options.stride = {2, 1};
  });
  conv("conv2d_batch", ConvShape(6, 3, 5, 2), [](Shape& s) { s.batch = 3; });
  all.push_back({"quantized_conv2d", tensor::QuantizedConv2dWorkload(ConvShape(5, 8, 9, 3, 1))});
  conv("conv2d_1x1", ConvShape(7, 16, 12, 1), [](Shape&) {});
  conv("conv2d_1x1_stride", ConvShape(7, 6, 8, 1), [](Shape& s) { s.options.stride = {2, 2}; });
  conv("conv2d_grouped", ConvShape(6, 6, 9, 3, 1), [](Shape& s) { s.groups = 3; });
  conv("depthwise", ConvShape(10, 8, 8, 3, 1), [](Shape& s) { s.groups = 8; });
  conv("depthwise_stride", ConvShape(9, 5, 5, 3, 1), [](Shape& s) {
    s.groups = 5;
    s.options.stride = {2, 2};
    s.epilogue.relu = true;
  });
  conv("conv2d_bias_relu", ConvShape(8, 3, 16, 3, 1),
       [](Shape& s) { s.epilogue.bias = s.epilogue.relu = true; });
  conv("conv2d_residual", ConvShape(8, 4, 8, 3, 1),
       [](Shape& s) { s.epilogue.bias = s.epilogue.residual = s.epilogue.relu = true; });
  conv("conv2d_float64", ConvShape(6, 3, 4, 3, 1),
       [](Shape& s) { s.dtype = tensor::DType::kFloat64; });
  return all;
}

inline std::vector<NamedWorkload> MatmulCatalogue() {
  std::vector<NamedWorkload> all;
  const auto add = [&](const std::string& name, tensor::Workload workload) {
    all.push_back({name, std::move(workload)});
  };
  add("matmul", tensor::MatmulWorkload(16, 24, 12));
  add("matmul_square", tensor::MatmulWorkload(32, 32, 32));
  add("matmul_prime", tensor::MatmulWorkload(13, 17, 19));
  add("matmul_prime_rows",
      tensor::MatmulWorkload(37, 20, 9, tensor::DType::kFloat32, {.bias = true, .relu = true}));
  add("conv2d_prime_rows", tensor::Conv2dWorkload(ConvShape(19, 3, 5, 3, 1)));
  add("matmul_vector", tensor::MatmulWorkload(1, 64, 30));
  add("matmul_column", tensor::MatmulWorkload(21, 1, 40));
  add("matmul_float64", tensor::MatmulWorkload(10, 14, 8, tensor::DType::kFloat64));
  add("matmul_bias",
      tensor::MatmulWorkload(12, 20, 9, tensor::DType::kFloat32, {.bias = true, .relu = true}));
  add("batch_matmul", tensor::BatchMatmulWorkload(3, 8, 10, 6));
  add("quantized_matmul", tensor::QuantizedMatmulWorkload(6, 20, 16));
  add("quantized_matmul_signed",
      tensor::QuantizedMatmulWorkload(5, 17, 8, {tensor::DType::kInt8, tensor::DType::kInt8}));

  {
    tensor::WorkloadBuilder b("matmul_bias_gelu");
    const tensor::Tensor x = b.Input("x", {9, 16}), w = b.Constant("w", {16, 12});
    const tensor::Tensor bias = b.Constant("bias", {12});
    const tensor::Tensor y = tensor::Matmul(b, "matmul", x, w);
    const tensor::Tensor z =
        tensor::Zip(b, "biased", y, bias, [](tensor::Expr a, tensor::Expr c) { return a + c; });
    add("matmul_bias_gelu", b.Build({tensor::Map(b, "gelu", z, tensor::Gelu)}));
  }
  {
    tensor::WorkloadBuilder b("matmul_transposed");
    const tensor::Tensor x = b.Input("x", {2, 12, 6}), w = b.Input("w", {10, 12});
    const tensor::MatmulOptions options{
        .transpose_a = true, .transpose_b = true, .accumulator = {}};
    add("matmul_transposed", b.Build({tensor::Matmul(b, "matmul", x, w, options)}));
  }
  {
    tensor::WorkloadBuilder b("matmul_int8");
    const tensor::Tensor x = b.Input("x", {11, 20}, tensor::DType::kInt8);
    const tensor::Tensor w = b.Constant("w", {20, 8}, tensor::DType::kInt8);
    const tensor::MatmulOptions options{.accumulator = tensor::DType::kInt32};
    add("matmul_int8", b.Build({tensor::Matmul(b, "matmul", x, w, options)}));
  }
  for (const tensor::DType dtype : {tensor::DType::kFloat16, tensor::DType::kBFloat16}) {
    tensor::WorkloadBuilder b("matmul_" + tensor::ToString(dtype));
    const tensor::Tensor x = b.Input("x", {8, 18}, dtype), w = b.Constant("w", {18, 16}, dtype);
    const tensor::Tensor y =
        tensor::Matmul(b, "matmul", x, w, {.accumulator = tensor::DType::kFloat32});
    add("matmul_" + tensor::ToString(dtype),
        b.Build({tensor::Map(b, "narrow", y,
                             [dtype](tensor::Expr e) { return tensor::Cast(dtype, e); })}));
  }
  return all;
}

inline std::vector<NamedWorkload> OtherCatalogue() {
  std::vector<NamedWorkload> all;
  using B = tensor::WorkloadBuilder;
  const auto one = [&](const std::string& name, std::vector<int64_t> shape, const auto& write,
                       tensor::DType dtype = tensor::DType::kFloat32) {
    all.push_back({name, OneInput(std::move(shape), write, dtype)});
  };
  one("max_pool", {1, 11, 11, 6}, [](B& b, tensor::Tensor x) {
    return tensor::Pool2d(
        b, "pool", x,
        {.kernel = {3, 3}, .stride = {2, 2}, .pad_before = {1, 1}, .pad_after = {1, 1}});
  });
  one("average_pool", {2, 7, 9, 4}, [](B& b, tensor::Tensor x) {
    return tensor::Pool2d(b, "pool", x,
                          {.kind = tensor::PoolKind::kAverage,
                           .kernel = {3, 2},
                           .stride = {1, 2},
                           .pad_before = {1, 1},
                           .pad_after = {1, 0}});
  });
  one("global_average_pool", {2, 7, 7, 10},
      [](B& b, tensor::Tensor x) { return tensor::GlobalAveragePool(b, "pool", x); });
  one("softmax", {6, 35}, [](B& b, tensor::Tensor x) { return tensor::Softmax(b, "softmax", x); });
  one("layer_norm", {5, 24}, [](B& b, tensor::Tensor x) {
    return tensor::LayerNorm(b, "norm", x, b.Constant("scale", {24}), b.Constant("shift", {24}));
  });
  one("gelu_chain", {15, 22}, [](B& b, tensor::Tensor x) {
    const tensor::Tensor doubled =
        tensor::Map(b, "doubled", x, [](tensor::Expr e) { return e * 2; });
    const tensor::Tensor gelu = tensor::Map(b, "gelu", doubled, tensor::Gelu);
    return tensor::Map(b, "clip", gelu, [](tensor::Expr e) { return tensor::Clip(e, -0.1, 1.5); });
  });
  one("broadcast_chain", {3, 8, 5}, [](B& b, tensor::Tensor x) {
    const auto add = [](tensor::Expr a, tensor::Expr c) { return a + c; };
    const auto mul = [](tensor::Expr a, tensor::Expr c) { return a * c; };
    const tensor::Tensor row = tensor::Zip(b, "row", x, b.Input("per_row", {8, 1}), add);
    return tensor::Zip(b, "column", row, b.Input("per_column", {5}), mul);
  });
  one("transpose", {6, 14, 5}, [](B& b, tensor::Tensor x) {
    return b.Compute("transpose", {5, 6, 14}, [&](const auto& i) { return x(i[1], i[2], i[0]); });
  });
  one("concat", {4, 6}, [](B& b, tensor::Tensor x) {
    const tensor::Tensor y = b.Input("y", {4, 9});
    return b.Compute("concat", {4, 15}, [&](const auto& i) {
      return tensor::Select(i[1] < 6, x(i[0], i[1]), y(i[0], i[1] - 6));
    });
  });
  one("max_middle_axis", {4, 12, 10}, [](B& b, tensor::Tensor x) {
    return tensor::ReduceAxes(b, "max", x, {1}, tensor::Reduction::kMax, false);
  });
  one("sum_middle_axis", {3, 14, 7}, [](B& b, tensor::Tensor x) {
    return tensor::ReduceAxes(b, "sum", x, {1}, tensor::Reduction::kSum, true);
  });
  one("row_sum", {2, 1200}, [](B& b, tensor::Tensor x) {
    return tensor::ReduceAxes(b, "sum", x, {1}, tensor::Reduction::kSum, false);
  });
  one("sum_all", {36, 20}, [](B& b, tensor::Tensor x) {
    return tensor::ReduceAxes(b, "sum", x, {0, 1}, tensor::Reduction::kSum, false);
  });
  one(
      "product_int32", {7, 6},
      [](B& b, tensor::Tensor x) {
        return tensor::ReduceAxes(b, "product", x, {1}, tensor::Reduction::kProduct, false);
      },
      tensor::DType::kInt32);
  one(
      "min_uint8", {9, 15},
      [](B& b, tensor::Tensor x) {
        return tensor::ReduceAxes(b, "min", x, {1}, tensor::Reduction::kMin, false);
      },
      tensor::DType::kUInt8);
  {
    tensor::WorkloadBuilder b("gather");
    const tensor::Tensor table = b.Input("table", {20, 6}),
                         rows = b.Input("rows", {11}, tensor::DType::kInt64);
    all.push_back({"gather", b.Build({b.Compute("gather", {11, 6}, [&](const auto& i) {
                     return table(tensor::FloorMod(rows(i[0]), 20), i[1]);
                   })})});
  }
  {
    tensor::WorkloadBuilder b("two_outputs");
    const tensor::Tensor x = b.Input("x", {6, 10});
    const tensor::Tensor y = tensor::Map(
        b, "exp", x, [](tensor::Expr e) { return tensor::Unary(tensor::ExprOp::kExp, e); });
    const tensor::Tensor z = tensor::ReduceAxes(b, "sum", y, {1}, tensor::Reduction::kSum, true);
    all.push_back({"two_outputs",
                   b.Build({y, tensor::Zip(b, "share", y, z, [](tensor::Expr a, tensor::Expr c) {
                              return a / c;
                            })})});
  }
  {
    tensor::WorkloadBuilder b("two_layers");
    const tensor::Tensor x = b.Input("x", {1, 9, 9, 3});
    tensor::Conv2dOptions pad;
    pad.pad_before = pad.pad_after = {1, 1};
    const tensor::Tensor c1 = tensor::Conv2d(b, "conv1", x, b.Constant("w1", {3, 3, 3, 4}), pad);
    const tensor::Tensor r1 = tensor::Map(b, "relu1", c1, tensor::Relu);
    const tensor::Tensor c2 = tensor::Conv2d(b, "conv2", r1, b.Constant("w2", {3, 3, 4, 5}), pad);
    all.push_back({"two_layers", b.Build({tensor::Map(b, "relu2", c2, tensor::Relu)})});
  }
  return all;
}

/// Every kind of operator at least once, at extents that are small, odd or prime too.
inline std::vector<NamedWorkload> Catalogue() {
  std::vector<NamedWorkload> all = MatmulCatalogue();
  for (auto part : {ConvolutionCatalogue(), OtherCatalogue()}) {
    for (NamedWorkload& named : part) all.push_back(std::move(named));
  }
  return all;
}

/// The catalogue's workload of that name; throws std::out_of_range.
inline tensor::Workload FindWorkload(const std::string& name) {
  for (NamedWorkload& named : Catalogue()) {
    if (named.name == name) return std::move(named.workload);
  }
  throw std::out_of_range("no workload " + name);
}

/// Arguments for a workload's parameters: floats uniform in [-1, 1), integers in [-8, 8)
/// (unsigned: [0, 16)); outputs are zeros.
inline std::vector<tensor::HostTensor> RandomArguments(const tensor::Workload& workload,
                                                       uint64_t seed) {
  base::RandomStream random(seed);
  std::vector<tensor::HostTensor> arguments;
  for (tensor::BufferId id : workload.Parameters()) {
    const tensor::Buffer& buffer = workload.buffers[id];
    tensor::HostTensor tensor = tensor::HostTensor::Zeros(buffer.dtype, buffer.shape);
    for (int64_t i = 0; buffer.role != tensor::BufferRole::kOutput && i < tensor.ElementCount();
         ++i) {
      if (tensor::IsFloat(buffer.dtype)) {
        tensor.Set(i, 2 * random.Uniform() - 1);
      } else {
        tensor.SetInt(i, random.UniformInt(16) - (tensor::IsUnsigned(buffer.dtype) ? 0 : 8));
      }
    }
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

/// Greatest difference between tensors of one shape, relative to 1 + |expected|. NaN equals NaN.
inline double RelativeDifference(const tensor::HostTensor& actual,
                                 const tensor::HostTensor& expected) {
  double worst = 0;
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    const double a = actual.Get(i), e = expected.Get(i);
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    const double difference = std::abs(a - e) / (1 + std::abs(e));
    if (!(difference <= worst)) worst = std::isnan(difference) ? HUGE_VAL : difference;
  }
  return worst;
}

}  // namespace bayloom::testing

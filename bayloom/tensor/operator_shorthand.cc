// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/operator_shorthand.h"

#include <optional>
#include <stdexcept>
#include <vector>

#include "bayloom/base/shorthand.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/quantized_operators.h"

namespace bayloom::tensor {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 31;

DType TypeOption(base::Shorthand& line) {
  const std::string value = line.Option("dtype", "float32");
  const std::optional<DType> dtype = ParseDType(value);
  if (!dtype) line.Refuse("'" + value + "' is no element type");
  return *dtype;
}

/// The type that products are summed up in, if it is not that of the operands: float32 of tf32.
std::optional<DType> SumOption(base::Shorthand& line, DType dtype) {
  const std::string own = ToString(dtype == DType::kTFloat32 ? DType::kFloat32 : dtype);
  const std::string value = line.Option("sum", own);
  if (value == ToString(dtype)) return std::nullopt;
  if (!IsFloat(dtype) || value != ToString(DType::kFloat32)) {
    line.Refuse("'" + value + "' is no type that products of " + ToString(dtype) +
                " are summed up in");
  }
  return DType::kFloat32;
}

Epilogue TakeEpilogue(base::Shorthand& line) {
  Epilogue epilogue;
  epilogue.bias = line.Flag("bias");
  epilogue.residual = line.Flag("residual");
  epilogue.relu = line.Flag("relu");
  return epilogue;
}

/// The types of a quantized operator: those of its activations, if a dtype was given, and int8
/// weights.
std::optional<QuantizedTypes> TakeQuantized(base::Shorthand& line, DType dtype,
                                            const Epilogue& epilogue) {
  if (!line.Flag("quantized")) return std::nullopt;
  if (epilogue.bias || epilogue.residual || epilogue.relu) {
    line.Refuse("a quantized operator has a bias and takes no residual or relu");
  }
  if (dtype == DType::kFloat32) dtype = DType::kUInt8;
  if (dtype != DType::kInt8 && dtype != DType::kUInt8) {
    line.Refuse("a quantized operator's dtype is int8 or uint8");
  }
  return QuantizedTypes{dtype, DType::kInt8};
}

Workload ParseMatmul(base::Shorthand& line) {
  const int64_t m = line.Number("M");
  const int64_t n = line.Number("N");
  const int64_t k = line.Number("K");
  const int64_t batch = line.NumberOption("batch", 1);
  const DType dtype = TypeOption(line);
  const std::optional<DType> sum = SumOption(line, dtype);
  const Epilogue epilogue = TakeEpilogue(line);
  const std::optional<QuantizedTypes> quantized = TakeQuantized(line, dtype, epilogue);
  line.ExpectNoMore();
  if (quantized) {
    if (batch != 1) line.Refuse("a batch of products is not quantized");
    return QuantizedMatmulWorkload(m, n, k, *quantized);
  }
  if (batch == 1) return MatmulWorkload(m, n, k, dtype, epilogue, sum);
  if (epilogue.bias || epilogue.residual || epilogue.relu) {
    line.Refuse("a batch of products takes no bias, residual or relu");
  }
  return BatchMatmulWorkload(batch, m, n, k, dtype, sum);
}

Workload ParseConvolution(base::Shorthand& line, bool depthwise) {
  const std::vector<int64_t> image = line.Numbers("image HxWxC", 3);
  Conv2dShape shape;
  shape.height = image[0];
  shape.width = image[1];
  shape.in_channels = image[2];
  shape.out_channels = depthwise ? image[2] : line.Number("number of output channels");
  shape.kernel = line.Pair("kernel");
  shape.batch = line.NumberOption("batch", 1);
  shape.groups = depthwise ? image[2] : line.NumberOption("groups", 1);
  shape.options.stride = line.PairOption("stride", 1);
  shape.options.dilation = line.PairOption("dilation", 1);
  shape.options.pad_before = shape.options.pad_after = line.PairOption("pad", 0);
  shape.dtype = TypeOption(line);
  shape.options.accumulator = SumOption(line, shape.dtype);
  shape.epilogue = TakeEpilogue(line);
  const std::optional<QuantizedTypes> quantized = TakeQuantized(line, shape.dtype, shape.epilogue);
  line.ExpectNoMore();
  if (shape.in_channels % shape.groups != 0 || shape.out_channels % shape.groups != 0) {
    line.Refuse("both numbers of channels must be multiples of the " +
                std::to_string(shape.groups) + " groups");
  }
  if (!quantized) return Conv2dWorkload(shape);
  if (shape.groups != 1) line.Refuse("a quantized convolution takes no groups");
  return QuantizedConv2dWorkload(shape, *quantized);
}

struct OperatorKind {
  std::string_view name;
  std::string_view example;
  Workload (*parse)(base::Shorthand&);
};

constexpr OperatorKind kOperators[] = {
    {"matmul", "matmul:512,512,512,bias,relu", ParseMatmul},
    {"conv2d", "conv2d:56x56x64,128,3x3,stride=2,pad=1,bias,relu",
     [](base::Shorthand& line) { return ParseConvolution(line, false); }},
    {"depthwise", "depthwise:56x56x144,3x3,pad=1,bias,relu",
     [](base::Shorthand& line) { return ParseConvolution(line, true); }},
};

void CheckSize(const Workload& workload, const base::Shorthand& line) {
  for (const Buffer& buffer : workload.buffers) {
    // Extents are at most 2^24 each, so that a product of doubles cannot overflow.
    double elements = 1;
    for (int64_t extent : buffer.shape) elements *= static_cast<double>(extent);
    if (elements > static_cast<double>(kMaxElements)) {
      line.Refuse("tensor '" + buffer.name + "' would have more than 2^31 elements");
    }
  }
}

}  // namespace

Workload ParseOperator(std::string_view text) {
  base::Shorthand line("operator", text);
  for (const OperatorKind& kind : kOperators) {
    if (kind.name != line.name()) continue;
    line.SetExample(kind.example);
    try {
      Workload workload = kind.parse(line);
      CheckSize(workload, line);
      return workload;
    } catch (const std::invalid_argument& error) {
      line.Refuse(error.what());
    }
  }
  line.SetExample(kOperators[0].example);
  line.Refuse("there is no '" + std::string(line.name()) + "', only matmul, conv2d and depthwise");
}

std::string OperatorExamples() {
  return "  matmul:512,512,512                                M,N,K\n"
         "  matmul:128,768,768,bias,relu                      what follows elementwise\n"
         "  matmul:128,128,64,batch=12                        a batch of 12 products\n"
         "  matmul:512,512,512,quantized                      bytes, sums in int32\n"
         "  matmul:512,512,512,dtype=float16,sum=float32      sums in another type\n"
         "  conv2d:56x56x64,128,3x3,stride=2,pad=1,bias,relu  HxWxC,outputs,kernel\n"
         "  depthwise:56x56x144,3x3,pad=1                     HxWxC,kernel\n";
}

}  // namespace bayloom::tensor

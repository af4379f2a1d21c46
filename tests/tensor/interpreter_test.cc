// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/interpreter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "tests/tensor/workloads.h"

namespace bayloom::tensor {
namespace {

using testing::Catalogue;
using testing::FindWorkload;
using testing::NamedWorkload;
using testing::OneInput;
using testing::RandomArguments;

double ToleranceOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 2e-3;
    case DType::kBFloat16:
      return 2e-2;
    case DType::kFloat32:
      return 2e-5;
    default:
      return IsFloat(dtype) ? 1e-12 : 0;
  }
}

HostTensor Filled(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  HostTensor tensor = HostTensor::Zeros(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.Set(static_cast<int64_t>(i), values[i]);
  return tensor;
}

std::vector<double> Values(const HostTensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.ElementCount(); ++i) values.push_back(tensor.Get(i));
  return values;
}

/// 1, 2, 3, ...
HostTensor Counting(std::vector<int64_t> shape, DType dtype = DType::kFloat32) {
  HostTensor tensor = HostTensor::Zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor.ElementCount(); ++i) tensor.Set(i, static_cast<double>(i + 1));
  return tensor;
}

/// The single output for the given inputs.
HostTensor Output(const Workload& workload, std::vector<HostTensor> arguments) {
  const Buffer& output = workload.buffers[workload.Parameters().back()];
  arguments.push_back(HostTensor::Zeros(output.dtype, output.shape));
  Interpret(Lower(workload), arguments);
  return arguments.back();
}

TEST(HostTensorTest, RoundsToItsType) {
  for (const auto& [dtype, value, expected] : {std::tuple{DType::kFloat16, 0.1, 0.0999755859375},
                                               {DType::kFloat16, 65520.0, HUGE_VAL},
                                               {DType::kFloat16, 0x1p-24, 0x1p-24},
                                               {DType::kFloat16, 0x1p-26, 0.0},
                                               {DType::kFloat16, -1.5, -1.5},
                                               {DType::kBFloat16, 3.14159, 3.140625},
                                               {DType::kBFloat16, 0x1p-133, 0x1p-133},
                                               {DType::kFloat32, 0.1, double{0.1f}},
                                               {DType::kInt8, 130.0, -126.0},
                                               {DType::kInt32, -2.9, -2.0},
                                               {DType::kUInt16, 65537.0, 1.0},
                                               {DType::kBool, 0.5, 1.0}}) {
    EXPECT_EQ(Filled(dtype, {1}, {value}).Get(0), expected) << ToString(dtype) << " " << value;
  }
}

TEST(HostTensorTest, EveryHalfSurvivesARoundTrip) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    HostTensor tensor = HostTensor::Zeros(dtype, {1 << 16});
    for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
      const auto narrow = static_cast<uint16_t>(bits);
      std::memcpy(tensor.data.data() + 2 * bits, &narrow, 2);
    }
    HostTensor copy = HostTensor::Zeros(dtype, {1 << 16});
    for (int64_t i = 0; i < 1 << 16; ++i) copy.Set(i, tensor.Get(i));
    for (int64_t i = 0; i < 1 << 16; ++i) {
      if (std::isnan(tensor.Get(i))) {
        ASSERT_TRUE(std::isnan(copy.Get(i)));
      } else {
        ASSERT_EQ(std::memcmp(&tensor.data[2 * i], &copy.data[2 * i], 2), 0) << i;
      }
    }
  }
}

TEST(HostTensorTest, KeepsAll64Bits) {
  for (const DType dtype : {DType::kInt64, DType::kUInt64}) {
    HostTensor tensor = HostTensor::Zeros(dtype, {1});
    tensor.SetInt(0, -3);
    EXPECT_EQ(tensor.GetInt(0), -3);
    EXPECT_EQ(tensor.Get(0), dtype == DType::kInt64 ? -3.0 : 0x1p64);
  }
}

TEST(InterpreterTest, Matmul) {
  const HostTensor c = Output(MatmulWorkload(2, 2, 3), {Counting({2, 3}), Counting({3, 2})});
  EXPECT_EQ(Values(c), (std::vector<double>{22, 28, 49, 64}));
}

TEST(InterpreterTest, ConvolutionWithPaddingAndStride) {
  Conv2dShape shape = testing::ConvShape(3, 1, 1, 3, 1);
  shape.options.stride = {2, 2};
  HostTensor ones = Counting({3, 3, 1, 1});
  for (int64_t i = 0; i < 9; ++i) ones.Set(i, 1);
  const HostTensor y = Output(Conv2dWorkload(shape), {Counting({1, 3, 3, 1}), ones});
  // Sums over the corners' neighbourhoods of 1 2 3 / 4 5 6 / 7 8 9.
  EXPECT_EQ(Values(y), (std::vector<double>{12, 16, 24, 28}));
}

TEST(InterpreterTest, GroupedConvolutionKeepsGroupsApart) {
  Conv2dShape shape = testing::ConvShape(1, 4, 2, 1);
  shape.groups = 2;
  const HostTensor y =
      Output(Conv2dWorkload(shape), {Counting({1, 1, 1, 4}), Counting({1, 1, 2, 2})});
  // Weights are [[1, 2], [3, 4]] by input channel in the group, output channel.
  EXPECT_EQ(Values(y), (std::vector<double>{1 * 1 + 2 * 3, 3 * 2 + 4 * 4}));
}

TEST(InterpreterTest, Softmax) {
  const Workload softmax =
      OneInput({1, 3}, [](WorkloadBuilder& b, Tensor x) { return Softmax(b, "softmax", x); });
  const HostTensor y = Output(softmax, {Filled(DType::kFloat32, {1, 3}, {1000, 1001, 999})});
  const double sum = 1 + std::exp(-1) + std::exp(-2);
  EXPECT_NEAR(y.Get(0), std::exp(-1) / sum, 1e-6);
  EXPECT_NEAR(y.Get(1), 1 / sum, 1e-6);
  EXPECT_NEAR(y.Get(2), std::exp(-2) / sum, 1e-6);
}

TEST(InterpreterTest, PoolsAtTheBorder) {
  for (const bool count_padding : {false, true}) {
    for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage}) {
      const Workload pool = OneInput({1, 2, 2, 1}, [&](WorkloadBuilder& b, Tensor x) {
        return Pool2d(b, "pool", x,
                      {.kind = kind,
                       .kernel = {2, 2},
                       .stride = {2, 2},
                       .pad_before = {1, 1},
                       .pad_after = {1, 1},
                       .count_padding = count_padding});
      });
      const HostTensor y = Output(pool, {Filled(DType::kFloat32, {1, 2, 2, 1}, {-1, -2, -3, -4})});
      const double scale = kind == PoolKind::kAverage && count_padding ? 0.25 : 1;
      EXPECT_EQ(Values(y), (std::vector<double>{-scale, -2 * scale, -3 * scale, -4 * scale}));
    }
  }
}

TEST(InterpreterTest, IntegersWrapAndDivideAsDocumented) {
  WorkloadBuilder b("integers");
  const Tensor x = b.Input("x", {4}, DType::kInt8), y = b.Input("y", {4}, DType::kInt8);
  std::vector<Tensor> outputs;
  for (const ExprOp op : {ExprOp::kMul, ExprOp::kDiv, ExprOp::kFloorDiv, ExprOp::kMod,
                          ExprOp::kFloorMod, ExprOp::kShiftRight}) {
    outputs.push_back(
        b.Compute("out", {4}, [&](const auto& i) { return Binary(op, x(i[0]), y(i[0])); }));
  }
  const Workload workload = b.Build(outputs);
  std::vector<HostTensor> arguments = RandomArguments(workload, 0);
  arguments[0] = Filled(DType::kInt8, {4}, {100, -7, 7, -128});
  arguments[1] = Filled(DType::kInt8, {4}, {3, 2, -2, -1});
  Interpret(Lower(workload), arguments);
  EXPECT_EQ(Values(arguments[2]), (std::vector<double>{44, -14, -14, -128}));
  EXPECT_EQ(Values(arguments[3]), (std::vector<double>{33, -3, -3, -128}));
  EXPECT_EQ(Values(arguments[4]), (std::vector<double>{33, -4, -4, -128}));
  EXPECT_EQ(Values(arguments[5]), (std::vector<double>{1, -1, 1, 0}));
  EXPECT_EQ(Values(arguments[6]), (std::vector<double>{1, 1, -1, 0}));
  EXPECT_EQ(arguments[7].Get(0), 12);
  EXPECT_EQ(arguments[7].Get(1), -2);
}

/// std's own functions say what each float operation means.
TEST(InterpreterTest, EveryUnaryFloatOperation) {
  const std::vector<std::pair<ExprOp, double (*)(double)>> table = {
      {ExprOp::kNegate, [](double v) { return -v; }},
      {ExprOp::kAbs, [](double v) { return std::fabs(v); }},
      {ExprOp::kSign, [](double v) { return v > 0   ? 1.0
                                            : v < 0 ? -1.0
                                                    : 0.0; }},
      {ExprOp::kFloor, std::floor},
      {ExprOp::kCeil, std::ceil},
      {ExprOp::kRound, std::rint},
      {ExprOp::kSqrt, std::sqrt},
      {ExprOp::kExp, std::exp},
      {ExprOp::kLog, std::log},
      {ExprOp::kErf, std::erf},
      {ExprOp::kSin, std::sin},
      {ExprOp::kCos, std::cos},
      {ExprOp::kTan, std::tan},
      {ExprOp::kAsin, std::asin},
      {ExprOp::kAcos, std::acos},
      {ExprOp::kAtan, std::atan},
      {ExprOp::kSinh, std::sinh},
      {ExprOp::kCosh, std::cosh},
      {ExprOp::kTanh, std::tanh},
      {ExprOp::kAsinh, std::asinh},
      {ExprOp::kAcosh, std::acosh},
      {ExprOp::kAtanh, std::atanh}};
  const HostTensor x = Filled(DType::kFloat64, {7}, {-2.5, -0.5, 0, 0.3, 0.5, 1, 3.5});
  for (const auto& [op, function] : table) {
    const Workload workload = OneInput(
        {7},
        [op = op](WorkloadBuilder& b, Tensor t) {
          return Map(b, "y", t, [op](Expr e) { return Unary(op, e); });
        },
        DType::kFloat64);
    const HostTensor y = Output(workload, {x});
    for (int64_t i = 0; i < 7; ++i) {
      const double expected = function(x.Get(i));
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(y.Get(i))) << static_cast<int>(op);
      } else {
        EXPECT_EQ(y.Get(i), expected) << static_cast<int>(op) << " of " << x.Get(i);
      }
    }
  }
}

TEST(InterpreterTest, SelectPerformsOnlyTheChosenSide) {
  const Workload shifted = OneInput({4}, [](WorkloadBuilder& b, Tensor x) {
    return b.Compute(
        "y", {6}, [&](const auto& i) { return Select(i[0] < 2, FloatLiteral(-1), x(i[0] - 2)); });
  });
  EXPECT_EQ(Values(Output(shifted, {Counting({4})})), (std::vector<double>{-1, -1, 1, 2, 3, 4}));
}

TEST(InterpreterTest, RefusesBadIndicesAndReadsOfUnwrittenElements) {
  const Workload overrun = OneInput({4}, [](WorkloadBuilder& b, Tensor x) {
    return b.Compute("y", {4}, [&](const auto& i) { return x(i[0] + 1); });
  });
  EXPECT_THROW(Output(overrun, {Counting({4})}), std::logic_error);
  const Workload gather = OneInput({4}, [](WorkloadBuilder& b, Tensor x) {
    return b.Compute("y", {4}, [&](const auto& i) {
      return Cast(DType::kFloat32, FloorDiv(i[0], 2)) + x(FloorDiv(i[0], 2) * 4);
    });
  });
  EXPECT_THROW(Output(gather, {Counting({4})}), std::logic_error);

  Workload chain = OneInput({4}, [](WorkloadBuilder& b, Tensor x) {
    const Tensor y = Map(b, "y", x, Relu);
    return Map(b, "z", y, Relu);
  });
  Program swapped = Lower(chain);
  std::swap(swapped.roots[0], swapped.roots[1]);
  std::vector<HostTensor> arguments = RandomArguments(chain, 1);
  EXPECT_THROW(Interpret(swapped, arguments), std::logic_error);
}

class WorkloadTest : public ::testing::TestWithParam<NamedWorkload> {};

TEST_P(WorkloadTest, PointEvaluatorEqualsInterpreter) {
  const Workload& workload = GetParam().workload;
  std::vector<HostTensor> arguments = RandomArguments(workload, 7);
  PointEvaluator evaluator(workload, arguments);
  std::vector<HostTensor> results = arguments;
  Interpret(Lower(workload), results);
  const std::vector<BufferId> parameters = workload.Parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    const Buffer& buffer = workload.buffers[parameters[p]];
    if (buffer.role != BufferRole::kOutput) continue;
    HostTensor points = HostTensor::Zeros(buffer.dtype, buffer.shape);
    for (int64_t i = 0; i < points.ElementCount(); ++i) {
      std::vector<int64_t> index(buffer.shape.size());
      int64_t rest = i;
      for (size_t d = index.size(); d-- > 0; rest /= buffer.shape[d]) {
        index[d] = rest % buffer.shape[d];
      }
      points.Set(i, evaluator.Evaluate(parameters[p], index));
    }
    EXPECT_LE(testing::RelativeDifference(results[p], points), ToleranceOf(buffer.dtype));
  }
}

TEST_P(WorkloadTest, NaiveProgramIsValidAndPrints) {
  const Program program = Lower(GetParam().workload);
  const Status valid = Validate(program);
  EXPECT_TRUE(valid) << valid.error().message << "\n" << Print(program);
  EXPECT_NE(Print(program).find("for "), std::string::npos);
  EXPECT_GE(GetParam().workload.Flops(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, WorkloadTest, ::testing::ValuesIn(Catalogue()),
                         [](const auto& test) { return test.param.name; });

TEST(LayoutTest, PackingOrdersElementsByTheLayout) {
  Buffer buffer;
  buffer.dtype = DType::kInt16;
  buffer.shape = {2, 6};
  buffer.layout = {{1, 3, 2}, {0, 1, 2}, {1, 1, 3}};  // [columns / 3, rows, columns % 3]
  std::vector<int16_t> row_major(12);
  std::iota(row_major.begin(), row_major.end(), int16_t{0});
  const auto packed = PackLayout(buffer, reinterpret_cast<const std::byte*>(row_major.data()));
  std::vector<int16_t> values(12);
  std::memcpy(values.data(), packed.data(), packed.size());
  EXPECT_EQ(values, (std::vector<int16_t>{0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}));
}

TEST(LayoutTest, UnpackingUndoesPackingForEveryElementSize) {
  for (const DType dtype : {DType::kInt8, DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
    Buffer buffer;
    buffer.dtype = dtype;
    buffer.shape = {6, 1, 8, 10};
    buffer.layout = {{3, 5, 2}, {0, 2, 3}, {2, 1, 8}, {1, 1, 1}, {3, 1, 5}, {0, 1, 2}};
    std::vector<std::byte> row_major(480 * ByteSize(dtype));
    for (size_t i = 0; i < row_major.size(); ++i) row_major[i] = std::byte(i * 37 % 251);
    const auto packed = PackLayout(buffer, row_major.data());
    EXPECT_NE(packed, row_major);
    EXPECT_EQ(UnpackLayout(buffer, packed.data()), row_major);
  }
}

}  // namespace
}  // namespace bayloom::tensor

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives.h"
#include "tests/codegen/compiled.h"
#include "tests/tensor/workloads.h"

namespace bayloom::codegen {
namespace {

using testing::ExpectMatchesInterpreter;

const std::vector<tensor::DType> kAllTypes = {
    tensor::DType::kBool,    tensor::DType::kInt8,     tensor::DType::kInt16,
    tensor::DType::kInt32,   tensor::DType::kInt64,    tensor::DType::kUInt8,
    tensor::DType::kUInt16,  tensor::DType::kUInt32,   tensor::DType::kUInt64,
    tensor::DType::kFloat16, tensor::DType::kBFloat16, tensor::DType::kFloat32,
    tensor::DType::kFloat64, tensor::DType::kTFloat32};

/// Values that find mistakes: signs, zero, halves, extremes of small types.
tensor::HostTensor Values(tensor::DType dtype, int64_t count, uint64_t seed, bool no_zero = false) {
  base::RandomStream random(seed);
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(dtype, {count});
  for (int64_t i = 0; i < count; ++i) {
    if (tensor::IsFloat(dtype)) {
      const double value = (random.UniformInt(4) == 0 ? 0.5 : 0.037) * (random.UniformInt(40) - 20);
      tensor.Set(i, value == 0 && no_zero ? 1 : value);
    } else {
      int64_t value = random.UniformInt(16) - (tensor::IsUnsigned(dtype) ? 0 : 8);
      if (random.UniformInt(8) == 0) value = random.UniformInt(256) - 128;
      if (dtype == tensor::DType::kBool) value = random.UniformInt(2);
      tensor.SetInt(i, value);
      if (no_zero && tensor.GetInt(i) == 0) tensor.SetInt(i, 1);
    }
  }
  return tensor;
}

/// Runs out[i] = value(x[i], y[i]) one by one and in vectors, for a length with a ragged end.
void CheckElementwise(tensor::DType dtype,
                      const std::function<tensor::Expr(tensor::Expr, tensor::Expr)>& value,
                      const std::string& what, bool y_is_zero_free = false) {
  constexpr int64_t kCount = 87;
  tensor::WorkloadBuilder b("elementwise");
  const tensor::Tensor x = b.Input("x", {kCount}, dtype), y = b.Input("y", {kCount}, dtype);
  const tensor::Tensor out =
      b.Compute("out", {kCount}, [&](const auto& i) { return value(x(i[0]), y(i[0])); });
  const tensor::Workload workload = b.Build({out});
  std::vector<tensor::HostTensor> arguments = testing::RandomArguments(workload, 1);
  arguments[0] = Values(dtype, kCount, 1);
  arguments[1] = Values(dtype, kCount, 2, y_is_zero_free);
  tensor::Program program = tensor::Lower(workload);
  ExpectMatchesInterpreter(program, arguments,
                           what + " on " + tensor::ToString(dtype) + ", scalar");
  const tensor::LoopId loop =
      program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("out")))[0];
  ASSERT_TRUE(tensor::Vectorize(program, loop).ok());
  ExpectMatchesInterpreter(program, arguments,
                           what + " on " + tensor::ToString(dtype) + ", vectorized");
}

TEST(ExpressionTest, BinaryOperationsOnAllTypes) {
  for (tensor::DType dtype : kAllTypes) {
    for (int op = static_cast<int>(tensor::ExprOp::kAdd);
         op <= static_cast<int>(tensor::ExprOp::kXor); ++op) {
      const auto expr_op = static_cast<tensor::ExprOp>(op);
      const bool boolean = expr_op >= tensor::ExprOp::kAnd && expr_op <= tensor::ExprOp::kXor;
      const bool integer =
          expr_op == tensor::ExprOp::kFloorDiv || expr_op == tensor::ExprOp::kFloorMod ||
          expr_op == tensor::ExprOp::kShiftLeft || expr_op == tensor::ExprOp::kShiftRight;
      const bool is_bool = dtype == tensor::DType::kBool;
      if (is_bool != boolean && !(is_bool && expr_op == tensor::ExprOp::kEqual)) continue;
      if (integer && tensor::IsFloat(dtype)) continue;
      if (expr_op == tensor::ExprOp::kPow) continue;
      CheckElementwise(
          dtype, [&](tensor::Expr x, tensor::Expr y) { return tensor::Binary(expr_op, x, y); },
          "binary op " + std::to_string(op), true);
    }
  }
}

TEST(ExpressionTest, UnaryOperationsOnAllTypes) {
  for (tensor::DType dtype : kAllTypes) {
    if (dtype == tensor::DType::kBool) {
      CheckElementwise(
          dtype, [&](tensor::Expr x, tensor::Expr) { return !x; }, "not");
      continue;
    }
    for (int op = static_cast<int>(tensor::ExprOp::kNegate);
         op <= static_cast<int>(tensor::ExprOp::kIsInf); ++op) {
      const auto expr_op = static_cast<tensor::ExprOp>(op);
      const bool on_integers = expr_op <= tensor::ExprOp::kSign;
      if (!tensor::IsFloat(dtype) && !on_integers) continue;
      CheckElementwise(
          dtype, [&](tensor::Expr x, tensor::Expr) { return tensor::Unary(expr_op, x); },
          "unary op " + std::to_string(op));
    }
  }
}

TEST(ExpressionTest, PowersOnFloatsAndIntegers) {
  for (tensor::DType dtype :
       {tensor::DType::kFloat32, tensor::DType::kFloat64, tensor::DType::kFloat16}) {
    CheckElementwise(
        dtype,
        [&](tensor::Expr x, tensor::Expr y) {
          return tensor::Binary(tensor::ExprOp::kPow, tensor::Unary(tensor::ExprOp::kAbs, x), y);
        },
        "power");
    for (double exponent : {-1.0, 0.0, 0.5, 2.0, 3.0, 2.5}) {
      CheckElementwise(
          dtype,
          [&](tensor::Expr x, tensor::Expr) {
            return tensor::Binary(tensor::ExprOp::kPow, tensor::Unary(tensor::ExprOp::kAbs, x) + 1,
                                  tensor::FloatLiteral(exponent, dtype));
          },
          "power " + std::to_string(exponent));
    }
  }
  CheckElementwise(
      tensor::DType::kInt32,
      [&](tensor::Expr x, tensor::Expr) {
        return tensor::Binary(tensor::ExprOp::kPow, x,
                              tensor::IntLiteral(3, tensor::DType::kInt32));
      },
      "cube");
}

TEST(ExpressionTest, CastsBetweenAllTypes) {
  for (tensor::DType from : kAllTypes) {
    for (tensor::DType to : kAllTypes) {
      CheckElementwise(
          from, [&](tensor::Expr x, tensor::Expr) { return tensor::Cast(to, x); },
          "cast to " + tensor::ToString(to));
    }
  }
}

/// Numbers that no integer of the type holds, around the powers of two at which they wrap or end.
TEST(ExpressionTest, CastsOfLargeNumbersWrapOrEnd) {
  std::vector<double> numbers = {NAN, INFINITY, -INFINITY, 0.0, -0.0};
  for (int exponent = 6; exponent <= 66; ++exponent) {
    for (const double factor : {1.0, 1 - 0x1p-24, 1 + 0x1p-23, 1.5, 1.3359375}) {
      for (const double sign : {1.0, -1.0}) {
        numbers.push_back(sign * std::ldexp(factor, exponent));
      }
    }
  }
  const auto count = static_cast<int64_t>(numbers.size());
  for (tensor::DType to : kAllTypes) {
    if (!tensor::IsInteger(to)) continue;
    tensor::WorkloadBuilder b("casts");
    const tensor::Tensor x = b.Input("x", {count}, tensor::DType::kFloat32);
    const tensor::Workload workload = b.Build(
        {b.Compute("out", {count}, [&](const auto& i) { return tensor::Cast(to, x(i[0])); })});
    std::vector<tensor::HostTensor> arguments = testing::RandomArguments(workload, 1);
    for (int64_t i = 0; i < count; ++i) arguments[0].Set(i, numbers[static_cast<size_t>(i)]);
    tensor::Program program = tensor::Lower(workload);
    ExpectMatchesInterpreter(program, arguments, tensor::ToString(to) + ", scalar");
    const tensor::LoopId loop =
        program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("out")))[0];
    ASSERT_TRUE(tensor::Vectorize(program, loop).ok());
    ExpectMatchesInterpreter(program, arguments, tensor::ToString(to) + ", vectorized");
  }
}

TEST(ExpressionTest, IteratorsAreValuesToo) {
  tensor::WorkloadBuilder b("iterators");
  const tensor::Tensor out = b.Compute("out", {5, 37}, [](const auto& i) {
    return tensor::Select(
        i[1] < i[0] * 7, tensor::Cast(tensor::DType::kFloat32, tensor::FloorMod(i[1], 5)),
        tensor::Cast(tensor::DType::kFloat32, tensor::FloorDiv(i[0] * 37 + i[1], 3)));
  });
  const tensor::Workload workload = b.Build({out});
  tensor::Program program = tensor::Lower(workload);
  ExpectMatchesInterpreter(program, testing::RandomArguments(workload, 1), "scalar");
  std::vector<tensor::LoopId> loops =
      program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("out")));
  ASSERT_TRUE(tensor::Vectorize(program, *tensor::Fuse(program, loops)).ok());
  ExpectMatchesInterpreter(program, testing::RandomArguments(workload, 1), "vectorized");
}

TEST(ExpressionTest, NotANumberIsKeptByExtrema) {
  for (tensor::ExprOp op : {tensor::ExprOp::kMin, tensor::ExprOp::kMax}) {
    CheckElementwise(
        tensor::DType::kFloat32,
        [&](tensor::Expr x, tensor::Expr y) {
          const tensor::Expr nan =
              tensor::Unary(tensor::ExprOp::kSqrt, x);  // of half of the values
          return tensor::Binary(op, tensor::Binary(op, nan, y), tensor::FloatLiteral(0.25));
        },
        "extremum");
    CheckElementwise(
        tensor::DType::kFloat32,
        [&](tensor::Expr x, tensor::Expr y) {
          return tensor::Binary(op, tensor::FloatLiteral(0.25),
                                tensor::Binary(op, y, tensor::Unary(tensor::ExprOp::kLog, x)));
        },
        "extremum");
  }
}

/// The largest error of a float function in units in the last place, over arguments that cover
/// all magnitudes, and whether special values come out right.
double WorstError(tensor::ExprOp op, const std::function<double(double)>& exact, double low,
                  double high) {
  constexpr int64_t kCount = 1 << 17;
  tensor::WorkloadBuilder b("function");
  const tensor::Tensor x = b.Input("x", {kCount});
  const tensor::Workload workload = b.Build(
      {b.Compute("y", {kCount}, [&](const auto& i) { return tensor::Unary(op, x(i[0])); })});
  tensor::Program program = tensor::Lower(workload);
  const tensor::LoopId loop =
      program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("y")))[0];
  EXPECT_TRUE(tensor::Vectorize(program, loop).ok());
  std::vector<tensor::HostTensor> arguments = testing::RandomArguments(workload, 1);
  base::RandomStream random(5);
  for (int64_t i = 0; i < kCount; ++i) {
    const double uniform = low + (high - low) * random.Uniform();
    arguments[0].Set(i, i % 2 ? uniform : uniform * std::exp2(-40 * random.Uniform()));
  }
  const double special[] = {0, -0.0, HUGE_VAL, -HUGE_VAL, std::nan(""), 1, -1, 1e-45, 3e38, -3e38};
  for (size_t i = 0; i < std::size(special); ++i) {
    arguments[0].Set(static_cast<int64_t>(i), special[i]);
  }
  testing::RunCompiled(program, arguments);
  double worst = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const double expected = exact(arguments[0].Get(i)), actual = arguments[1].Get(i);
    const auto rounded = static_cast<float>(expected);
    if (std::isnan(expected) || std::isinf(rounded)) {
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(actual) : actual == rounded)
          << arguments[0].Get(i) << " gives " << actual << " for " << expected;
      continue;
    }
    const double unit = std::nextafter(std::abs(rounded), std::numeric_limits<float>::infinity()) -
                        std::abs(rounded);
    worst = std::max(worst, std::abs(actual - expected) / unit);
  }
  return worst;
}

TEST(ExpressionTest, FloatFunctionsAreAccurate) {
  EXPECT_LT(WorstError(
                tensor::ExprOp::kExp, [](double x) { return std::exp(x); }, -110, 95),
            1.5);
  EXPECT_LT(WorstError(
                tensor::ExprOp::kLog, [](double x) { return std::log(x); }, -1, 1e6),
            1.5);
  EXPECT_LT(WorstError(
                tensor::ExprOp::kErf, [](double x) { return std::erf(x); }, -5, 5),
            6);
  EXPECT_LT(WorstError(
                tensor::ExprOp::kTanh, [](double x) { return std::tanh(x); }, -10, 10),
            6);
  EXPECT_LT(WorstError(
                tensor::ExprOp::kSin, [](double x) { return std::sin(x); }, -2e6, 2e6),
            2);
  EXPECT_LT(WorstError(
                tensor::ExprOp::kCos, [](double x) { return std::cos(x); }, -2e6, 2e6),
            2);
  EXPECT_LT(WorstError(
                tensor::ExprOp::kAsin, [](double x) { return std::asin(x); }, -1.1, 1.1),
            3);
  EXPECT_LT(WorstError(
                tensor::ExprOp::kAcos, [](double x) { return std::acos(x); }, -1.1, 1.1),
            3);
  EXPECT_LT(WorstError(
                tensor::ExprOp::kAtan, [](double x) { return std::atan(x); }, -9, 9),
            3);
}

}  // namespace
}  // namespace bayloom::codegen

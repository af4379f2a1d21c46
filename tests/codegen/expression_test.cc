#include "bayloom/tensor/primitives.h"
#include "tests/codegen/compiled.h"
#include "tests/tensor/workloads.h"

namespace bayloom {
namespace {

using testing::ExpectMatchesInterpreter;

const std::vector<DType> kAllTypes = {
    DType::kBool,     DType::kInt8,    DType::kInt16,  DType::kInt32,  DType::kInt64,
    DType::kUInt8,    DType::kUInt16,  DType::kUInt32, DType::kUInt64, DType::kFloat16,
    DType::kBFloat16, DType::kFloat32, DType::kFloat64};

/// Values that find mistakes: signs, zero, halves, extremes of small types.
HostTensor Values(DType dtype, int64_t count, uint64_t seed, bool no_zero = false) {
  RandomStream random(seed);
  HostTensor tensor = HostTensor::Zeros(dtype, {count});
  for (int64_t i = 0; i < count; ++i) {
    if (IsFloat(dtype)) {
      const double value = (random.UniformInt(4) == 0 ? 0.5 : 0.037) * (random.UniformInt(40) - 20);
      tensor.Set(i, value == 0 && no_zero ? 1 : value);
    } else {
      int64_t value = random.UniformInt(16) - (IsUnsigned(dtype) ? 0 : 8);
      if (random.UniformInt(8) == 0) value = random.UniformInt(256) - 128;
      if (dtype == DType::kBool) value = random.UniformInt(2);
      tensor.SetInt(i, value);
      if (no_zero && tensor.GetInt(i) == 0) tensor.SetInt(i, 1);
    }
  }
  return tensor;
}

/// Runs out[i] = value(x[i], y[i]) one by one and in vectors, for a length with a ragged end.
void CheckElementwise(DType dtype, const std::function<Expr(Expr, Expr)>& value,
                      const std::string& what, bool y_is_zero_free = false) {
  constexpr int64_t kCount = 87;
  WorkloadBuilder b("elementwise");
  const Tensor x = b.Input("x", {kCount}, dtype), y = b.Input("y", {kCount}, dtype);
  const Tensor out =
      b.Compute("out", {kCount}, [&](const auto& i) { return value(x(i[0]), y(i[0])); });
  const Workload workload = b.Build({out});
  std::vector<HostTensor> arguments = testing::RandomArguments(workload, 1);
  arguments[0] = Values(dtype, kCount, 1);
  arguments[1] = Values(dtype, kCount, 2, y_is_zero_free);
  Program program = Lower(workload);
  ExpectMatchesInterpreter(program, arguments, what + " on " + ToString(dtype) + ", scalar");
  const LoopId loop = program.LoopsAround(NodeRef::Block(program.FindBlock("out")))[0];
  ASSERT_TRUE(Vectorize(program, loop).ok());
  ExpectMatchesInterpreter(program, arguments, what + " on " + ToString(dtype) + ", vectorized");
}

TEST(ExpressionTest, BinaryOperationsOnAllTypes) {
  for (DType dtype : kAllTypes) {
    for (int op = static_cast<int>(ExprOp::kAdd); op <= static_cast<int>(ExprOp::kXor); ++op) {
      const auto expr_op = static_cast<ExprOp>(op);
      const bool boolean = expr_op >= ExprOp::kAnd && expr_op <= ExprOp::kXor;
      const bool integer = expr_op == ExprOp::kFloorDiv || expr_op == ExprOp::kFloorMod ||
                           expr_op == ExprOp::kShiftLeft || expr_op == ExprOp::kShiftRight;
      const bool is_bool = dtype == DType::kBool;
      if (is_bool != boolean && !(is_bool && expr_op == ExprOp::kEqual)) continue;
      if (integer && IsFloat(dtype)) continue;
      if (expr_op == ExprOp::kPow) continue;
      CheckElementwise(
          dtype, [&](Expr x, Expr y) { return Binary(expr_op, x, y); },
          "binary op " + std::to_string(op), true);
    }
  }
}

TEST(ExpressionTest, UnaryOperationsOnAllTypes) {
  for (DType dtype : kAllTypes) {
    if (dtype == DType::kBool) {
      CheckElementwise(
          dtype, [&](Expr x, Expr) { return !x; }, "not");
      continue;
    }
    for (int op = static_cast<int>(ExprOp::kNegate); op <= static_cast<int>(ExprOp::kIsInf); ++op) {
      const auto expr_op = static_cast<ExprOp>(op);
      const bool on_integers = expr_op <= ExprOp::kSign;
      if (!IsFloat(dtype) && !on_integers) continue;
      CheckElementwise(
          dtype, [&](Expr x, Expr) { return Unary(expr_op, x); }, "unary op " + std::to_string(op));
    }
  }
}

TEST(ExpressionTest, PowersOnFloatsAndIntegers) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    CheckElementwise(
        dtype, [&](Expr x, Expr y) { return Binary(ExprOp::kPow, Unary(ExprOp::kAbs, x), y); },
        "power");
    for (double exponent : {-1.0, 0.0, 0.5, 2.0, 3.0, 2.5}) {
      CheckElementwise(
          dtype,
          [&](Expr x, Expr) {
            return Binary(ExprOp::kPow, Unary(ExprOp::kAbs, x) + 1, FloatLiteral(exponent, dtype));
          },
          "power " + std::to_string(exponent));
    }
  }
  CheckElementwise(
      DType::kInt32,
      [&](Expr x, Expr) { return Binary(ExprOp::kPow, x, IntLiteral(3, DType::kInt32)); }, "cube");
}

TEST(ExpressionTest, CastsBetweenAllTypes) {
  for (DType from : kAllTypes) {
    for (DType to : kAllTypes) {
      CheckElementwise(
          from, [&](Expr x, Expr) { return Cast(to, x); }, "cast to " + ToString(to));
    }
  }
}

TEST(ExpressionTest, IteratorsAreValuesToo) {
  WorkloadBuilder b("iterators");
  const Tensor out = b.Compute("out", {5, 37}, [](const auto& i) {
    return Select(i[1] < i[0] * 7, Cast(DType::kFloat32, FloorMod(i[1], 5)),
                  Cast(DType::kFloat32, FloorDiv(i[0] * 37 + i[1], 3)));
  });
  const Workload workload = b.Build({out});
  Program program = Lower(workload);
  ExpectMatchesInterpreter(program, testing::RandomArguments(workload, 1), "scalar");
  std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(program.FindBlock("out")));
  ASSERT_TRUE(Vectorize(program, *Fuse(program, loops)).ok());
  ExpectMatchesInterpreter(program, testing::RandomArguments(workload, 1), "vectorized");
}

TEST(ExpressionTest, NotANumberIsKeptByExtrema) {
  for (ExprOp op : {ExprOp::kMin, ExprOp::kMax}) {
    CheckElementwise(
        DType::kFloat32,
        [&](Expr x, Expr y) {
          const Expr nan = Unary(ExprOp::kSqrt, x);  // of half of the values
          return Binary(op, Binary(op, nan, y), FloatLiteral(0.25));
        },
        "extremum");
    CheckElementwise(
        DType::kFloat32,
        [&](Expr x, Expr y) {
          return Binary(op, FloatLiteral(0.25), Binary(op, y, Unary(ExprOp::kLog, x)));
        },
        "extremum");
  }
}

/// The largest error of a float function in units in the last place, over arguments that cover
/// all magnitudes, and whether special values come out right.
double WorstError(ExprOp op, const std::function<double(double)>& exact, double low, double high) {
  constexpr int64_t kCount = 1 << 17;
  WorkloadBuilder b("function");
  const Tensor x = b.Input("x", {kCount});
  const Workload workload =
      b.Build({b.Compute("y", {kCount}, [&](const auto& i) { return Unary(op, x(i[0])); })});
  Program program = Lower(workload);
  const LoopId loop = program.LoopsAround(NodeRef::Block(program.FindBlock("y")))[0];
  EXPECT_TRUE(Vectorize(program, loop).ok());
  std::vector<HostTensor> arguments = testing::RandomArguments(workload, 1);
  RandomStream random(5);
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
                ExprOp::kExp, [](double x) { return std::exp(x); }, -110, 95),
            1.5);
  EXPECT_LT(WorstError(
                ExprOp::kLog, [](double x) { return std::log(x); }, -1, 1e6),
            1.5);
  EXPECT_LT(WorstError(
                ExprOp::kErf, [](double x) { return std::erf(x); }, -5, 5),
            6);
  EXPECT_LT(WorstError(
                ExprOp::kTanh, [](double x) { return std::tanh(x); }, -10, 10),
            6);
}

}  // namespace
}  // namespace bayloom

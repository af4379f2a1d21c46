/// Elementwise arithmetic, comparison and logic, with NumPy's broadcasting.
#include <fmt/format.h>

#include <limits>

#include "bayloom/graph/onnx_tensor.h"
#include "bayloom/graph/operators/helpers.h"

namespace bayloom {
namespace {

template <ExprOp op>
void UnaryOperator(OperatorContext& context) {
  context.SetOutput(0, Elementwise(context, context.label(), context.Input(0),
                                   [](const Expr& x) { return Unary(op, x); }));
}

template <ExprOp op>
void BinaryOperator(OperatorContext& context) {
  context.SetOutput(0, Elementwise(context, context.label(), {context.Input(0), context.Input(1)},
                                   [](const Exprs& x) { return Binary(op, x[0], x[1]); }));
}

/// An integer divisor that is no 0, so that data can never stop the program: ONNX leaves open
/// what a division by 0 gives.
Expr SafeDivisor(const Expr& divisor) {
  if (IsFloat(divisor->dtype)) return divisor;
  return Select(Equal(divisor, LiteralLike(0, divisor)), LiteralLike(1, divisor), divisor);
}

template <ExprOp op>
void DivisionOperator(OperatorContext& context) {
  context.SetOutput(
      0, Elementwise(context, context.label(), {context.Input(0), context.Input(1)},
                     [](const Exprs& x) { return Binary(op, x[0], SafeDivisor(x[1])); }));
}

/// Greater as Less with the operands exchanged.
template <ExprOp op>
void ExchangedOperator(OperatorContext& context) {
  context.SetOutput(0, Elementwise(context, context.label(), {context.Input(0), context.Input(1)},
                                   [](const Exprs& x) { return Binary(op, x[1], x[0]); }));
}

template <ExprOp op>
void VariadicOperator(OperatorContext& context) {
  context.Input(0);
  context.SetOutput(0, Elementwise(context, context.label(), context.Inputs(), [](const Exprs& x) {
                      Expr result = x[0];
                      for (size_t k = 1; k < x.size(); ++k) {
                        result = Binary(op, result, x[k]);
                      }
                      return result;
                    }));
}

void Mean(OperatorContext& context) {
  context.Input(0);
  const double count = context.input_count();
  context.SetOutput(0, Elementwise(context, "mean", context.Inputs(), [&](const Exprs& x) {
                      Expr sum = x[0];
                      for (size_t k = 1; k < x.size(); ++k) sum = sum + x[k];
                      return sum / LiteralLike(count, sum);
                    }));
}

void Not(OperatorContext& context) {
  context.SetOutput(
      0, Elementwise(context, "not", context.Input(0), [](const Expr& x) { return !x; }));
}

void Reciprocal(OperatorContext& context) {
  context.SetOutput(0, Elementwise(context, "reciprocal", context.Input(0),
                                   [](const Expr& x) { return LiteralLike(1, x) / x; }));
}

/// Frequent powers without calling anything; undefined for others.
Expr AsProduct(const Expr& base, const Expr& exponent) {
  const bool is_literal = exponent->op == ExprOp::kFloat || exponent->op == ExprOp::kInt;
  if (!is_literal) return {};
  const double power =
      IsFloat(exponent->dtype) ? exponent->float_value : static_cast<double>(exponent->int_value);
  if (power == 1) return base;
  if (power == 2) return base * base;
  if (power == 3) return base * base * base;
  if (power == 0.5 && IsFloat(base->dtype)) return Unary(ExprOp::kSqrt, base);
  return {};
}

/// The result has the base's type; a float exponent of an integer base is honoured. Negative
/// integer powers of integers, which ONNX leaves open, are taken for 0.
void Pow(OperatorContext& context) {
  context.SetOutput(
      0, Elementwise(context, "pow", {context.Input(0), context.Input(1)}, [](const Exprs& x) {
        const DType base = x[0]->dtype, exponent = x[1]->dtype;
        if (const Expr product = AsProduct(x[0], x[1]); product.defined()) return product;
        if (!IsFloat(base) && IsFloat(exponent)) {
          return Cast(
              base, Binary(ExprOp::kPow, Cast(DType::kFloat64, x[0]), Cast(DType::kFloat64, x[1])));
        }
        const Expr power = Cast(base, x[1]);
        const bool is_signed = IsInteger(base) && !IsUnsigned(base);
        return Binary(ExprOp::kPow, x[0], is_signed ? Max(power, 0) : power);
      }));
}

void Mod(OperatorContext& context) {
  const bool c_remainder = context.Int("fmod", 0) != 0;
  if (!c_remainder && IsFloat(context.Input(0).dtype())) {
    context.RefuseAttribute("fmod", "0", "floating-point operands need fmod = 1");
  }
  const ExprOp op = c_remainder ? ExprOp::kMod : ExprOp::kFloorMod;
  context.SetOutput(
      0, Elementwise(context, "mod", {context.Input(0), context.Input(1)},
                     [&](const Exprs& x) { return Binary(op, x[0], SafeDivisor(x[1])); }));
}

void BitShift(OperatorContext& context) {
  const std::string direction = context.String("direction");
  if (direction != "LEFT" && direction != "RIGHT") {
    context.RefuseAttribute("direction", direction, "has to be LEFT or RIGHT");
  }
  const ExprOp op = direction == "LEFT" ? ExprOp::kShiftLeft : ExprOp::kShiftRight;
  context.SetOutput(0, Elementwise(context, "bitshift", {context.Input(0), context.Input(1)},
                                   [&](const Exprs& x) { return Binary(op, x[0], x[1]); }));
}

void IsInf(OperatorContext& context) {
  const bool negative = context.Int("detect_negative", 1) != 0;
  const bool positive = context.Int("detect_positive", 1) != 0;
  context.SetOutput(0, Elementwise(context, "isinf", context.Input(0), [&](const Expr& x) {
                      Expr wanted = BoolLiteral(false);
                      if (positive) wanted = wanted || LiteralLike(0, x) < x;
                      if (negative) wanted = wanted || x < LiteralLike(0, x);
                      return Unary(ExprOp::kIsInf, x) && wanted;
                    }));
}

void Where(OperatorContext& context) {
  context.SetOutput(
      0, Elementwise(context, "where", {context.Input(0), context.Input(1), context.Input(2)},
                     [](const Exprs& x) { return Select(x[0], x[1], x[2]); }));
}

/// Bounds are attributes before operator set 11 and optional inputs from then on.
void Clip(OperatorContext& context) {
  const Tensor x = context.Input(0);
  std::vector<Tensor> operands = {x};
  const bool has_low = context.HasInput(1), has_high = context.HasInput(2);
  if (has_low) operands.push_back(context.Input(1));
  if (has_high) operands.push_back(context.Input(2));
  for (size_t k = 1; k < operands.size(); ++k) {
    if (CheckedElementCount(operands[k].shape()) != 1) context.Refuse("a bound is not a scalar");
    operands[k] = context.builder().View(operands[k], {});
  }
  const bool attributes = context.opset() < 11;
  const double low = attributes ? context.Float("min", std::numeric_limits<float>::lowest()) : 0;
  const double high = attributes ? context.Float("max", std::numeric_limits<float>::max()) : 0;
  context.SetOutput(0, Elementwise(context, "clip", operands, [&](const Exprs& e) {
                      if (attributes) {
                        Expr result = e[0];
                        if (context.HasAttribute("min"))
                          result = Max(result, LiteralLike(low, e[0]));
                        if (context.HasAttribute("max"))
                          result = Min(result, LiteralLike(high, e[0]));
                        return result;
                      }
                      Expr result = e[0];
                      if (has_low) result = Max(result, e[1]);
                      if (has_high) result = Min(result, e[has_low ? 2 : 1]);
                      return result;
                    }));
}

void CastOperator(OperatorContext& context) {
  const int64_t to = context.Int("to");
  const DType dtype = DTypeFromOnnx(to > 0 && to < 1000 ? static_cast<int>(to) : 0);
  context.SetOutput(0, ConvertTo(context, dtype, context.Input(0)));
}

void CastLike(OperatorContext& context) {
  context.SetOutput(0, ConvertTo(context, context.Input(1).dtype(), context.Input(0)));
}

}  // namespace

std::span<const Operator> ArithmeticOperators() {
  static const Operator operators[] = {
      {"Abs", UnaryOperator<ExprOp::kAbs>},
      {"Acos", UnaryOperator<ExprOp::kAcos>},
      {"Acosh", UnaryOperator<ExprOp::kAcosh>},
      {"Add", BinaryOperator<ExprOp::kAdd>},
      {"And", BinaryOperator<ExprOp::kAnd>},
      {"Asin", UnaryOperator<ExprOp::kAsin>},
      {"Asinh", UnaryOperator<ExprOp::kAsinh>},
      {"Atan", UnaryOperator<ExprOp::kAtan>},
      {"Atanh", UnaryOperator<ExprOp::kAtanh>},
      {"BitShift", BitShift},
      {"Cast", CastOperator},
      {"CastLike", CastLike},
      {"Ceil", UnaryOperator<ExprOp::kCeil>},
      {"Clip", Clip},
      {"Cos", UnaryOperator<ExprOp::kCos>},
      {"Cosh", UnaryOperator<ExprOp::kCosh>},
      {"Div", DivisionOperator<ExprOp::kDiv>},
      {"Equal", BinaryOperator<ExprOp::kEqual>},
      {"Erf", UnaryOperator<ExprOp::kErf>},
      {"Exp", UnaryOperator<ExprOp::kExp>},
      {"Floor", UnaryOperator<ExprOp::kFloor>},
      {"Greater", ExchangedOperator<ExprOp::kLess>},
      {"GreaterOrEqual", ExchangedOperator<ExprOp::kLessEqual>},
      {"IsInf", IsInf},
      {"IsNaN", UnaryOperator<ExprOp::kIsNan>},
      {"Less", BinaryOperator<ExprOp::kLess>},
      {"LessOrEqual", BinaryOperator<ExprOp::kLessEqual>},
      {"Log", UnaryOperator<ExprOp::kLog>},
      {"Max", VariadicOperator<ExprOp::kMax>},
      {"Mean", Mean},
      {"Min", VariadicOperator<ExprOp::kMin>},
      {"Mod", Mod},
      {"Mul", BinaryOperator<ExprOp::kMul>},
      {"Neg", UnaryOperator<ExprOp::kNegate>},
      {"Not", Not},
      {"Or", BinaryOperator<ExprOp::kOr>},
      {"Pow", Pow},
      {"Reciprocal", Reciprocal},
      {"Round", UnaryOperator<ExprOp::kRound>},
      {"Sign", UnaryOperator<ExprOp::kSign>},
      {"Sin", UnaryOperator<ExprOp::kSin>},
      {"Sinh", UnaryOperator<ExprOp::kSinh>},
      {"Sqrt", UnaryOperator<ExprOp::kSqrt>},
      {"Sub", BinaryOperator<ExprOp::kSub>},
      {"Sum", VariadicOperator<ExprOp::kAdd>},
      {"Tan", UnaryOperator<ExprOp::kTan>},
      {"Tanh", UnaryOperator<ExprOp::kTanh>},
      {"Where", Where},
      {"Xor", BinaryOperator<ExprOp::kXor>},
  };
  return operators;
}

}  // namespace bayloom

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Elementwise arithmetic, comparison and logic, with NumPy's broadcasting.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <limits>

#include "bayloom/graph/import/wide_floats.h"
#include "bayloom/graph/operators/small_rounding.h"

namespace bayloom::graph {
namespace {

template <tensor::ExprOp op>
void UnaryOperator(OperatorContext& context) {
  context.SetOutput(0, Elementwise(context, context.label(), context.Input(0),
                                   [](const tensor::Expr& x) { return tensor::Unary(op, x); }));
}

template <tensor::ExprOp op>
void BinaryOperator(OperatorContext& context) {
  context.SetOutput(0, Elementwise(context, context.label(), {context.Input(0), context.Input(1)},
                                   [](const Exprs& x) { return tensor::Binary(op, x[0], x[1]); }));
}

/// An integer divisor that is no 0, so that data can never stop the program: ONNX leaves open
/// what a division by 0 gives.
tensor::Expr SafeDivisor(const tensor::Expr& divisor) {
  if (tensor::IsFloat(divisor->dtype)) return divisor;
  return tensor::Select(tensor::Equal(divisor, LiteralLike(0, divisor)), LiteralLike(1, divisor),
                        divisor);
}

template <tensor::ExprOp op>
void DivisionOperator(OperatorContext& context) {
  context.SetOutput(
      0, Elementwise(context, context.label(), {context.Input(0), context.Input(1)},
                     [](const Exprs& x) { return tensor::Binary(op, x[0], SafeDivisor(x[1])); }));
}

/// Greater as Less with the operands exchanged.
template <tensor::ExprOp op>
void ExchangedOperator(OperatorContext& context) {
  context.SetOutput(0, Elementwise(context, context.label(), {context.Input(0), context.Input(1)},
                                   [](const Exprs& x) { return tensor::Binary(op, x[1], x[0]); }));
}

template <tensor::ExprOp op>
void VariadicOperator(OperatorContext& context) {
  context.Input(0);
  context.SetOutput(0, Elementwise(context, context.label(), context.Inputs(), [](const Exprs& x) {
                      tensor::Expr result = x[0];
                      for (size_t k = 1; k < x.size(); ++k) {
                        result = tensor::Binary(op, result, x[k]);
                      }
                      return result;
                    }));
}

void Mean(OperatorContext& context) {
  context.Input(0);
  const double count = context.input_count();
  context.SetOutput(0, Elementwise(context, "mean", context.Inputs(), [&](const Exprs& x) {
                      tensor::Expr sum = x[0];
                      for (size_t k = 1; k < x.size(); ++k) sum = sum + x[k];
                      return sum / LiteralLike(count, sum);
                    }));
}

void Not(OperatorContext& context) {
  context.SetOutput(
      0, Elementwise(context, "not", context.Input(0), [](const tensor::Expr& x) { return !x; }));
}

/// Of integers through floats, cut off.
void Erf(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const tensor::DType wide = tensor::IsFloat(x.dtype()) ? x.dtype() : tensor::DType::kFloat32;
  context.SetOutput(0, Elementwise(context, "erf", x, [&](const tensor::Expr& e) {
                      const tensor::Expr y =
                          tensor::Unary(tensor::ExprOp::kErf, tensor::Cast(wide, e));
                      return tensor::Cast(x.dtype(), y);
                    }));
}

void Reciprocal(OperatorContext& context) {
  context.SetOutput(0, Elementwise(context, "reciprocal", context.Input(0),
                                   [](const tensor::Expr& x) { return LiteralLike(1, x) / x; }));
}

/// The power of 0.5, which is that root but at -0 (0) and at negative infinity (infinity).
tensor::Expr SquareRootPower(const tensor::Expr& base) {
  const tensor::Expr infinity = LiteralLike(std::numeric_limits<double>::infinity(), base);
  const tensor::Expr zero = LiteralLike(0, base);
  const tensor::Expr positive_zero = tensor::Select(tensor::Equal(base, zero), zero, base);
  return tensor::Select(tensor::Equal(base, -infinity), infinity,
                        tensor::Unary(tensor::ExprOp::kSqrt, positive_zero));
}

/// Frequent powers without calling anything; undefined for others.
tensor::Expr AsProduct(const tensor::Expr& base, const tensor::Expr& exponent) {
  const bool is_literal =
      exponent->op == tensor::ExprOp::kFloat || exponent->op == tensor::ExprOp::kInt;
  if (!is_literal) return {};
  const double power = tensor::IsFloat(exponent->dtype) ? exponent->float_value
                                                        : static_cast<double>(exponent->int_value);
  if (power == 1) return base;
  if (power == 2) return base * base;
  if (power == 3) return base * base * base;
  if (power == 0.5 && tensor::IsFloat(base->dtype)) return SquareRootPower(base);
  return {};
}

/// The result has the base's type; a float exponent of an integer base is honoured. Negative
/// integer powers of integers, which ONNX leaves open, are taken for 0.
void Pow(OperatorContext& context) {
  context.SetOutput(
      0, Elementwise(context, "pow", {context.Input(0), context.Input(1)}, [](const Exprs& x) {
        const tensor::DType base = x[0]->dtype, exponent = x[1]->dtype;
        if (const tensor::Expr product = AsProduct(x[0], x[1]); product.defined()) return product;
        if (!tensor::IsFloat(base) && tensor::IsFloat(exponent)) {
          return tensor::Cast(base, tensor::Binary(tensor::ExprOp::kPow,
                                                   tensor::Cast(tensor::DType::kFloat64, x[0]),
                                                   tensor::Cast(tensor::DType::kFloat64, x[1])));
        }
        const tensor::Expr power = tensor::Cast(base, x[1]);
        const bool is_signed = tensor::IsInteger(base) && !tensor::IsUnsigned(base);
        return tensor::Binary(tensor::ExprOp::kPow, x[0],
                              is_signed ? tensor::Max(power, 0) : power);
      }));
}

/// The remainder with the divisor's sign; of 0 and the divisor's sign where it is exact.
void FloorModOfFloats(OperatorContext& context) {
  context.SetOutput(
      0, Elementwise(context, "mod", {context.Input(0), context.Input(1)}, [](const Exprs& x) {
        const tensor::Expr zero = LiteralLike(0, x[0]);
        const tensor::Expr rest = tensor::Binary(tensor::ExprOp::kMod, x[0], x[1]);
        const tensor::Expr signed_zero = tensor::Select(x[1] < zero, -zero, zero);
        const tensor::Expr differ = tensor::Binary(tensor::ExprOp::kXor, rest < zero, x[1] < zero);
        const tensor::Expr moved = tensor::Select(differ, rest + x[1], rest);
        return tensor::Select(tensor::Equal(rest, zero), signed_zero, moved);
      }));
}

void Mod(OperatorContext& context) {
  const bool c_remainder = context.Int("fmod", 0) != 0;
  const bool is_float = tensor::IsFloat(context.Input(0).dtype());
  if (!c_remainder && is_float && context.opset() < 28) {
    context.RefuseAttribute("fmod", "0",
                            "floating-point operands need fmod = 1 before operator set 28");
  }
  if (!c_remainder && is_float) return FloorModOfFloats(context);
  const tensor::ExprOp op = c_remainder ? tensor::ExprOp::kMod : tensor::ExprOp::kFloorMod;
  context.SetOutput(
      0, Elementwise(context, "mod", {context.Input(0), context.Input(1)},
                     [&](const Exprs& x) { return tensor::Binary(op, x[0], SafeDivisor(x[1])); }));
}

void BitShift(OperatorContext& context) {
  const std::string direction = context.String("direction");
  if (direction != "LEFT" && direction != "RIGHT") {
    context.RefuseAttribute("direction", direction, "has to be LEFT or RIGHT");
  }
  const tensor::ExprOp op =
      direction == "LEFT" ? tensor::ExprOp::kShiftLeft : tensor::ExprOp::kShiftRight;
  context.SetOutput(0, Elementwise(context, "bitshift", {context.Input(0), context.Input(1)},
                                   [&](const Exprs& x) { return tensor::Binary(op, x[0], x[1]); }));
}

void BitwiseNot(OperatorContext& context) {
  context.SetOutput(
      0, Elementwise(context, "bitwisenot", context.Input(0), [](const tensor::Expr& x) {
        return tensor::Binary(tensor::ExprOp::kXor, x, tensor::IntLiteral(-1, x->dtype));
      }));
}

void IsInf(OperatorContext& context) {
  const bool negative = context.Int("detect_negative", 1) != 0;
  const bool positive = context.Int("detect_positive", 1) != 0;
  context.SetOutput(0, Elementwise(context, "isinf", context.Input(0), [&](const tensor::Expr& x) {
                      tensor::Expr wanted = tensor::BoolLiteral(false);
                      if (positive) wanted = wanted || LiteralLike(0, x) < x;
                      if (negative) wanted = wanted || x < LiteralLike(0, x);
                      return tensor::Unary(tensor::ExprOp::kIsInf, x) && wanted;
                    }));
}

void Where(OperatorContext& context) {
  context.SetOutput(
      0, Elementwise(context, "where", {context.Input(0), context.Input(1), context.Input(2)},
                     [](const Exprs& x) { return tensor::Select(x[0], x[1], x[2]); }));
}

/// Bounds are attributes before operator set 11 and optional inputs from then on.
void Clip(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  std::vector<tensor::Tensor> operands = {x};
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
                        return tensor::Min(tensor::Max(e[0], LiteralLike(low, e[0])),
                                           LiteralLike(high, e[0]));
                      }
                      tensor::Expr result = e[0];
                      if (has_low) result = tensor::Max(result, e[1]);
                      if (has_high) result = tensor::Min(result, e[has_low ? 2 : 1]);
                      return result;
                    }));
}

void CastInputTo(OperatorContext& context, const ElementType& to) {
  const tensor::Tensor x = context.Input(0);
  if (!to.small) {  // a tensor of its own: the type of a small one belongs to its tensor
    const bool is_held = context.SmallTypeOf(0) && x.dtype() == to.dtype;
    const tensor::Tensor y =
        is_held ? Elementwise(context, "cast", x, Itself) : ConvertTo(context, to.dtype, x);
    return context.SetOutput(0, y);
  }
  if (to.small == context.SmallTypeOf(0)) return context.SetOutput(0, x, to.small);
  const bool saturate = context.Int("saturate", 1) != 0;
  const tensor::Tensor y = Elementwise(context, "cast", x, [&](const tensor::Expr& e) {
    return CastToSmall(*to.small, e, saturate);
  });
  context.SetOutput(0, y, to.small);
}

void CastOperator(OperatorContext& context) {
  CastInputTo(context, ElementTypeFromOnnx(context.Int("to")));
}

void CastLike(OperatorContext& context) { CastInputTo(context, TypeOf(context, 1)); }

/// The same bits as another type. Integers of one size differ by their sign only; programs cannot
/// take the bits of floats, but those of constants are known.
void BitCast(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const ElementType to = ElementTypeFromOnnx(context.Int("to"));
  if (to.small || context.SmallTypeOf(0)) context.Refuse("types of less than a byte");
  if (tensor::ByteSize(to.dtype) != tensor::ByteSize(x.dtype())) {
    context.Refuse(fmt::format("{} and {} differ in size", tensor::ToString(x.dtype()),
                               tensor::ToString(to.dtype)));
  }
  const bool is_bool = to.dtype == tensor::DType::kBool && x.dtype() != tensor::DType::kBool;
  if (is_bool) context.Refuse("other bits than those of true and false would be no bool");
  const bool is_half = context.InputType(0) == onnx::TensorProto::FLOAT16 ||
                       context.InputType(0) == onnx::TensorProto::BFLOAT16 ||
                       IsNarrowFloat(to.dtype);
  if (x.dtype() == to.dtype && !is_half) return context.SetOutput(0, x);
  if (!tensor::IsFloat(x.dtype()) && !tensor::IsFloat(to.dtype)) {
    return context.SetOutput(0, ConvertTo(context, to.dtype, x));
  }
  if (is_half) context.Refuse("the bits of float16 and bfloat16 are not supported");
  const tensor::HostTensor& known = context.KnownInput(0);
  context.SetOutput(0, context.builder().Constant(
                           "bitcast", tensor::HostTensor{to.dtype, known.shape, known.data}));
}

}  // namespace

std::span<const Operator> ArithmeticOperators() {
  static const Operator operators[] = {
      {"Abs", UnaryOperator<tensor::ExprOp::kAbs>},
      {"Acos", UnaryOperator<tensor::ExprOp::kAcos>},
      {"Acosh", UnaryOperator<tensor::ExprOp::kAcosh>},
      {"Add", BinaryOperator<tensor::ExprOp::kAdd>},
      {"And", BinaryOperator<tensor::ExprOp::kAnd>},
      {"Asin", UnaryOperator<tensor::ExprOp::kAsin>},
      {"Asinh", UnaryOperator<tensor::ExprOp::kAsinh>},
      {"Atan", UnaryOperator<tensor::ExprOp::kAtan>},
      {"Atanh", UnaryOperator<tensor::ExprOp::kAtanh>},
      {"BitCast", BitCast},
      {"BitShift", BitShift},
      {"BitwiseAnd", BinaryOperator<tensor::ExprOp::kAnd>},
      {"BitwiseNot", BitwiseNot},
      {"BitwiseOr", BinaryOperator<tensor::ExprOp::kOr>},
      {"BitwiseXor", BinaryOperator<tensor::ExprOp::kXor>},
      {"Cast", CastOperator},
      {"CastLike", CastLike},
      {"Ceil", UnaryOperator<tensor::ExprOp::kCeil>},
      {"Clip", Clip},
      {"Cos", UnaryOperator<tensor::ExprOp::kCos>},
      {"Cosh", UnaryOperator<tensor::ExprOp::kCosh>},
      {"Div", DivisionOperator<tensor::ExprOp::kDiv>},
      {"Equal", BinaryOperator<tensor::ExprOp::kEqual>},
      {"Erf", Erf},
      {"Exp", UnaryOperator<tensor::ExprOp::kExp>},
      {"Floor", UnaryOperator<tensor::ExprOp::kFloor>},
      {"Greater", ExchangedOperator<tensor::ExprOp::kLess>},
      {"GreaterOrEqual", ExchangedOperator<tensor::ExprOp::kLessEqual>},
      {"IsInf", IsInf},
      {"IsNaN", UnaryOperator<tensor::ExprOp::kIsNan>},
      {"Less", BinaryOperator<tensor::ExprOp::kLess>},
      {"LessOrEqual", BinaryOperator<tensor::ExprOp::kLessEqual>},
      {"Log", UnaryOperator<tensor::ExprOp::kLog>},
      {"Max", VariadicOperator<tensor::ExprOp::kMax>},
      {"Mean", Mean},
      {"Min", VariadicOperator<tensor::ExprOp::kMin>},
      {"Mod", Mod},
      {"Mul", BinaryOperator<tensor::ExprOp::kMul>},
      {"Neg", UnaryOperator<tensor::ExprOp::kNegate>},
      {"Not", Not},
      {"Or", BinaryOperator<tensor::ExprOp::kOr>},
      {"Pow", Pow},
      {"Reciprocal", Reciprocal},
      {"Round", UnaryOperator<tensor::ExprOp::kRound>},
      {"Sign", UnaryOperator<tensor::ExprOp::kSign>},
      {"Sin", UnaryOperator<tensor::ExprOp::kSin>},
      {"Sinh", UnaryOperator<tensor::ExprOp::kSinh>},
      {"Sqrt", UnaryOperator<tensor::ExprOp::kSqrt>},
      {"Sub", BinaryOperator<tensor::ExprOp::kSub>},
      {"Sum", VariadicOperator<tensor::ExprOp::kAdd>},
      {"Tan", UnaryOperator<tensor::ExprOp::kTan>},
      {"Tanh", UnaryOperator<tensor::ExprOp::kTanh>},
      {"Where", Where},
      {"Xor", BinaryOperator<tensor::ExprOp::kXor>},
  };
  return operators;
}

}  // namespace bayloom::graph

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/math.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <span>
#include <stdexcept>

#include "bayloom/codegen/ir/float_builder.h"
#include "bayloom/codegen/ir/trigonometry.h"

namespace bayloom::codegen {
namespace {

constexpr const char* kScalesByPowers = "bayloom_scales_by_powers";

/// Functions that are computed in all lanes at once.
class FloatMath : public FloatBuilder {
 public:
  using FloatBuilder::FloatBuilder;

  llvm::Value* Exp(llvm::Value* x);
  llvm::Value* Log(llvm::Value* x);
  /// x * P(x^2) / Q(x^2), for odd functions that reach 1 within float's precision at `limit`.
  llvm::Value* OddRational(llvm::Value* x, double limit, std::span<const double> p,
                           std::span<const double> q);

 private:
  /// y * 2^n for an integer n, rounded once, where one instruction does that; null elsewhere.
  llvm::Value* ScaleAtOnce(llvm::Value* y, llvm::Value* n);
  /// 2^n for n in [-126, 127].
  llvm::Value* PowerOfTwo(llvm::Value* n) {
    return AsFloat(b_.CreateShl(b_.CreateAdd(n, Int(127)), 23));
  }
};

constexpr double kLn2High = 0x1.62e4p-1;  // few bits: products with small integers are exact
constexpr double kLn2Low = 1.42860682030941723212e-6;

llvm::Value* FloatMath::ScaleAtOnce(llvm::Value* y, llvm::Value* n) {
  constexpr int kAsRoundingModeSays = 4;
  if (!b_.GetInsertBlock()->getModule()->getModuleFlag(kScalesByPowers)) return nullptr;
  const auto scale = [&](llvm::Intrinsic::ID id, std::vector<llvm::Value*> more) {
    std::vector<llvm::Value*> arguments = {y, n, y};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return b_.CreateIntrinsic(id, {}, arguments);
  };
  switch (lanes_) {
    case 16:
      return scale(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512,
                   {b_.getInt16(0xffff), b_.getInt32(kAsRoundingModeSays)});
    case 8:
      return scale(llvm::Intrinsic::x86_avx512_mask_scalef_ps_256, {b_.getInt8(0xff)});
    case 4:
      return scale(llvm::Intrinsic::x86_avx512_mask_scalef_ps_128, {b_.getInt8(0xff)});
    default:
      return nullptr;
  }
}

/// exp(x) = 2^n exp(r), r = x - n ln 2 in [-ln 2 / 2, ln 2 / 2]; the polynomial is the minimax fit
/// of (exp(r) - 1 - r) / r^2, relative error 1.2e-7 of r^2.
llvm::Value* FloatMath::Exp(llvm::Value* x) {
  constexpr double kPolynomial[] = {1,           1, 0.5, 0.166665778, 0.0416668542, 0.00836314447,
                                    0.0013901284};
  constexpr double kRounder = 0x1.8p23;  // adding it leaves the nearest integer in the low bits
  x = Clamp(x, -104, 89);
  llvm::Value* shifted = Fma(x, Float(1.44269504088896341), Float(kRounder));
  llvm::Value* rounded = b_.CreateFSub(shifted, Float(kRounder));
  llvm::Value* r = Fma(rounded, Float(-kLn2Low), Fma(rounded, Float(-kLn2High), x));
  llvm::Value* y = Polynomial(r, kPolynomial);
  if (llvm::Value* scaled = ScaleAtOnce(y, rounded)) return scaled;
  // In two steps, since 2^n alone may overflow or be subnormal.
  llvm::Value* n = b_.CreateSub(AsInt(shifted), Int(0x4b400000));
  llvm::Value* half = b_.CreateAShr(n, 1);
  y = b_.CreateFMul(y, PowerOfTwo(half));
  return b_.CreateFMul(y, PowerOfTwo(b_.CreateSub(n, half)));
}

/// log(x) = e ln 2 + log(1 + f), 1 + f in [sqrt(1/2), sqrt(2)); the polynomial is the minimax fit
/// of (log(1 + f) - f + f^2 / 2) / f^3, relative error 4.1e-7.
llvm::Value* FloatMath::Log(llvm::Value* x) {
  constexpr double kPolynomial[] = {0.333333313, -0.25000304,  0.200012013, -0.166415811,
                                    0.1420995,   -0.129892871, 0.126556635, -0.079741396};
  constexpr int32_t kSqrtHalfBits = 0x3f3504f3;
  llvm::Value* tiny = b_.CreateFCmpOLT(x, Float(0x1p-126));
  llvm::Value* scaled = b_.CreateSelect(tiny, b_.CreateFMul(x, Float(0x1p23)), x);
  llvm::Value* bits = b_.CreateSub(AsInt(scaled), Int(kSqrtHalfBits));
  llvm::Value* mantissa = b_.CreateAdd(b_.CreateAnd(bits, Int(0x7fffff)), Int(kSqrtHalfBits));
  llvm::Value* exponent =
      b_.CreateAdd(b_.CreateAShr(bits, 23), b_.CreateSelect(tiny, Int(-23), Int(0)));
  llvm::Value* e = b_.CreateSIToFP(exponent, x->getType());
  llvm::Value* f = b_.CreateFSub(AsFloat(mantissa), Float(1));
  llvm::Value* square = b_.CreateFMul(f, f);
  llvm::Value* y = b_.CreateFMul(Polynomial(f, kPolynomial), b_.CreateFMul(f, square));
  y = Fma(square, Float(-0.5), Fma(e, Float(kLn2Low), y));
  y = Fma(e, Float(kLn2High), b_.CreateFAdd(y, f));
  const double infinity = std::numeric_limits<double>::infinity();
  llvm::Value* special = b_.CreateSelect(b_.CreateFCmpOEQ(x, Float(0)), Float(-infinity),
                                         Float(std::numeric_limits<double>::quiet_NaN()));
  y = b_.CreateSelect(b_.CreateFCmpOGT(x, Float(0)), y, special);
  return b_.CreateSelect(b_.CreateFCmpOEQ(x, Float(infinity)), x, y);
}

llvm::Value* FloatMath::OddRational(llvm::Value* x, double limit, std::span<const double> p,
                                    std::span<const double> q) {
  x = Clamp(x, -limit, limit);
  llvm::Value* t = b_.CreateFMul(x, x);
  llvm::Value* y = b_.CreateFDiv(b_.CreateFMul(x, Polynomial(t, p)), Polynomial(t, q));
  return Clamp(y, -1, 1);
}

/// erf(x) / x as a rational function of x^2 on [0, 16], relative error 2.5e-8.
llvm::Value* Erf(IrBuilder& b, llvm::Value* x) {
  constexpr double kP[] = {1.12837911,    0.193546325,    0.0531019233,
                           0.00388340093, 0.000284567592, 1.98677776e-06};
  constexpr double kQ[] = {1, 0.504858553, 0.11535053, 0.0152073652, 0.00118558563, 3.74202173e-05};
  return FloatMath(b, x).OddRational(x, 4, kP, kQ);
}

/// tanh(x) / x as a rational function of x^2 on [0, 81.2], relative error 1.3e-9.
llvm::Value* Tanh(IrBuilder& b, llvm::Value* x) {
  constexpr double kP[] = {
      1, 0.136803344, 0.00386885274, 2.80180684e-05, 3.06105932e-08, -1.22224791e-11};
  constexpr double kQ[] = {1, 0.470136672, 0.0272477586, 0.000393955735, 1.28810859e-06};
  return FloatMath(b, x).OddRational(x, 9.01, kP, kQ);
}

llvm::Value* Intrinsic(IrBuilder& b, llvm::Intrinsic::ID id, llvm::Value* x) {
  return b.CreateIntrinsic(id, {x->getType()}, {x});
}

/// -1, 0 or 1; NaN stays.
llvm::Value* Sign(IrBuilder& b, llvm::Value* x) {
  llvm::Type* type = x->getType();
  llvm::Constant* zero = llvm::ConstantFP::get(type, 0);
  llvm::Value* not_positive =
      b.CreateSelect(b.CreateFCmpOLT(x, zero), llvm::ConstantFP::get(type, -1), zero);
  llvm::Value* sign =
      b.CreateSelect(b.CreateFCmpOGT(x, zero), llvm::ConstantFP::get(type, 1), not_positive);
  return b.CreateSelect(b.CreateFCmpUNO(x, x), x, sign);
}

const char* LibraryName(tensor::ExprOp op) {
  switch (op) {
    case tensor::ExprOp::kExp:
      return "exp";
    case tensor::ExprOp::kLog:
      return "log";
    case tensor::ExprOp::kErf:
      return "erf";
    case tensor::ExprOp::kSin:
      return "sin";
    case tensor::ExprOp::kCos:
      return "cos";
    case tensor::ExprOp::kTan:
      return "tan";
    case tensor::ExprOp::kAsin:
      return "asin";
    case tensor::ExprOp::kAcos:
      return "acos";
    case tensor::ExprOp::kAtan:
      return "atan";
    case tensor::ExprOp::kSinh:
      return "sinh";
    case tensor::ExprOp::kCosh:
      return "cosh";
    case tensor::ExprOp::kTanh:
      return "tanh";
    case tensor::ExprOp::kAsinh:
      return "asinh";
    case tensor::ExprOp::kAcosh:
      return "acosh";
    case tensor::ExprOp::kAtanh:
      return "atanh";
    default:
      throw std::logic_error("not a function of one float");
  }
}

/// The value of a constant of which all lanes are equal.
const llvm::ConstantFP* UniformConstant(llvm::Value* value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  return llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
}

}  // namespace

void AllowScalingByPowers(llvm::Module& module) {
  module.addModuleFlag(llvm::Module::Override, kScalesByPowers, 1);
}

llvm::Value* EmitMath(IrBuilder& b, tensor::ExprOp op, llvm::Value* x) {
  const bool is_float = x->getType()->getScalarType()->isFloatTy();
  const bool is_vector = x->getType()->isVectorTy();
  switch (op) {
    case tensor::ExprOp::kAbs:
      return Intrinsic(b, llvm::Intrinsic::fabs, x);
    case tensor::ExprOp::kFloor:
      return Intrinsic(b, llvm::Intrinsic::floor, x);
    case tensor::ExprOp::kCeil:
      return Intrinsic(b, llvm::Intrinsic::ceil, x);
    case tensor::ExprOp::kRound:
      return Intrinsic(b, llvm::Intrinsic::roundeven, x);
    case tensor::ExprOp::kSqrt:
      return Intrinsic(b, llvm::Intrinsic::sqrt, x);
    case tensor::ExprOp::kSign:
      return Sign(b, x);
    case tensor::ExprOp::kExp:
      if (is_float) return FloatMath(b, x).Exp(x);
      break;
    case tensor::ExprOp::kLog:
      if (is_float) return FloatMath(b, x).Log(x);
      break;
    case tensor::ExprOp::kErf:
      if (is_float) return Erf(b, x);
      break;
    case tensor::ExprOp::kTanh:
      if (is_float) return Tanh(b, x);
      break;
    case tensor::ExprOp::kSin:
    case tensor::ExprOp::kCos:
      if (is_float && is_vector) return EmitSineOrCosine(b, op, x);
      break;
    case tensor::ExprOp::kAsin:
    case tensor::ExprOp::kAcos:
    case tensor::ExprOp::kAtan:
      if (is_float && is_vector) return EmitArc(b, op, x);
      break;
    default:
      break;
  }
  return CallLibrary(b, LibraryName(op), {x});
}

llvm::Value* EmitPower(IrBuilder& b, llvm::Value* base, llvm::Value* exponent) {
  if (const llvm::ConstantFP* constant = UniformConstant(exponent)) {
    if (constant->isExactlyValue(2.0)) return b.CreateFMul(base, base);
    if (constant->isExactlyValue(3.0)) return b.CreateFMul(b.CreateFMul(base, base), base);
    if (constant->isExactlyValue(0.5)) return Intrinsic(b, llvm::Intrinsic::sqrt, base);
    if (constant->isExactlyValue(-1.0)) {
      return b.CreateFDiv(llvm::ConstantFP::get(base->getType(), 1), base);
    }
  }
  return CallLibrary(b, "pow", {base, exponent});
}

llvm::Value* CallLibrary(IrBuilder& b, const std::string& name,
                         const std::vector<llvm::Value*>& arguments) {
  llvm::Type* type = arguments[0]->getType();
  llvm::Type* scalar = type->getScalarType();
  const std::vector<llvm::Type*> types(arguments.size(), scalar);
  llvm::Module* module = b.GetInsertBlock()->getModule();
  llvm::FunctionCallee function = module->getOrInsertFunction(
      scalar->isFloatTy() ? name + "f" : name, llvm::FunctionType::get(scalar, types, false));
  auto* declaration = llvm::cast<llvm::Function>(function.getCallee());
  declaration->setDoesNotAccessMemory();
  declaration->setDoesNotThrow();
  declaration->setWillReturn();
  if (!type->isVectorTy()) return b.CreateCall(function, arguments);
  llvm::Value* result = llvm::PoisonValue::get(type);
  for (int lane = 0; lane < LanesOf(arguments[0]); ++lane) {
    std::vector<llvm::Value*> scalars;
    for (llvm::Value* argument : arguments)
      scalars.push_back(b.CreateExtractElement(argument, lane));
    result = b.CreateInsertElement(result, b.CreateCall(function, scalars), lane);
  }
  return result;
}

}  // namespace bayloom::codegen

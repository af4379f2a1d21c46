// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/trigonometry.h"

#include <fmt/format.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <numbers>

#include "bayloom/codegen/ir/float_builder.h"
#include "bayloom/codegen/ir/math.h"

namespace bayloom::codegen {
namespace {

using std::numbers::pi;

/// Polynomials are minimax fits.
class Trigonometry : public FloatBuilder {
 public:
  using FloatBuilder::FloatBuilder;

  /// Of x below 2^20. x = n pi / 2 + r with r in [-pi / 4, pi / 4]: n says which of sin(r) and
  /// cos(r) it is, and its sign.
  llvm::Value* SineOrCosine(llvm::Value* x, bool cosine) {
    auto [n, r] = Reduced(x);
    if (cosine) n = b_.CreateAdd(n, Int(1));
    llvm::Value* square = b_.CreateFMul(r, r);
    llvm::Value* is_odd = b_.CreateICmpNE(b_.CreateAnd(n, Int(1)), Int(0));
    llvm::Value* y = b_.CreateSelect(is_odd, CosineNearZero(square), SineNearZero(r, square));
    llvm::Value* sign = b_.CreateShl(b_.CreateAnd(n, Int(2)), 30);
    return AsFloat(b_.CreateXor(AsInt(y), sign));
  }

  /// Of a > 1/2 by asin(a) = pi / 2 - 2 asin(sqrt((1 - a) / 2)).
  llvm::Value* ArcSine(llvm::Value* x) {
    const Halved h = Halve(x);
    llvm::Value* y = b_.CreateSelect(h.is_far, Fma(h.arc, Float(-2), Float(pi / 2)), h.arc);
    return WithSignOf(y, x);
  }

  llvm::Value* ArcCosine(llvm::Value* x) {
    const Halved h = Halve(x);
    llvm::Value* twice = b_.CreateFMul(h.arc, Float(2));
    llvm::Value* is_negative = b_.CreateFCmpOLT(x, Float(0));
    llvm::Value* far = b_.CreateSelect(is_negative, b_.CreateFSub(Float(pi), twice), twice);
    llvm::Value* near = b_.CreateFSub(Float(pi / 2), WithSignOf(h.arc, x));
    return b_.CreateSelect(h.is_far, far, near);
  }

  /// Of a > 1 by atan(a) = pi / 2 - atan(1 / a).
  llvm::Value* ArcTangent(llvm::Value* x) {
    constexpr double kPolynomial[] = {
        -0.33333298563957214,  0.19998548924922943, -0.14264242351055145, 0.10952185839414597,
        -0.0840345099568367,   0.05795760080218315, -0.03117785044014454, 0.010914608836174011,
        -0.0017936222720891237};  // of (atan(r) / r - 1) / r^2
    llvm::Value* a = Abs(x);
    llvm::Value* is_far = b_.CreateFCmpOGT(a, Float(1));
    llvm::Value* r = b_.CreateSelect(is_far, b_.CreateFDiv(Float(1), a), a);
    llvm::Value* square = b_.CreateFMul(r, r);
    llvm::Value* y = Fma(b_.CreateFMul(r, square), Polynomial(square, kPolynomial), r);
    y = b_.CreateSelect(is_far, b_.CreateFSub(Float(pi / 2), y), y);
    return WithSignOf(y, x);
  }

 private:
  struct Reduction {
    llvm::Value *n, *r;
  };
  /// In double, with pi / 2 in two parts, the first of so few bits that its products are exact.
  Reduction Reduced(llvm::Value* x) {
    constexpr double kHigh = 0x1.921fb544p0, kLow = 6.07710050650619224932e-11;
    constexpr double kRounder = 0x1.8p52;  // leaves the nearest integer in the low bits
    llvm::Type* wide = WithLanes(b_.getDoubleTy(), lanes_);
    const auto literal = [&](double value) { return llvm::ConstantFP::get(wide, value); };
    llvm::Value* y = b_.CreateFPExt(x, wide);
    llvm::Value* shifted = Fma(y, literal(2 / pi), literal(kRounder));
    llvm::Value* rounded = b_.CreateFSub(shifted, literal(kRounder));
    llvm::Value* r = Fma(rounded, literal(-kLow), Fma(rounded, literal(-kHigh), y));
    llvm::Value* bits = b_.CreateBitCast(shifted, WithLanes(b_.getInt64Ty(), lanes_));
    return {b_.CreateTrunc(bits, int_type_), b_.CreateFPTrunc(r, x->getType())};
  }

  llvm::Value* SineNearZero(llvm::Value* r, llvm::Value* square) {
    constexpr double kPolynomial[] = {-0.1666666716337204, 0.008333329111337662,
                                      -0.00019839330343529582, 2.7182745725440327e-06};
    return Fma(b_.CreateFMul(r, square), Polynomial(square, kPolynomial), r);
  }
  llvm::Value* CosineNearZero(llvm::Value* square) {
    constexpr double kPolynomial[] = {1,
                                      -0.5,
                                      0.0416666679084301,
                                      -0.0013888883404433727,
                                      2.4799515813356265e-05,
                                      -2.7209895847590815e-07};
    return Polynomial(square, kPolynomial);
  }

  /// asin of |x| up to 1/2, or of sqrt((1 - |x|) / 2) where that is far from 0.
  struct Halved {
    llvm::Value *is_far, *arc;
  };
  Halved Halve(llvm::Value* x) {
    constexpr double kPolynomial[] = {0.16666659712791443,  0.07500503957271576,
                                      0.04451695457100868,  0.03180772438645363,
                                      0.014438586309552193, 0.037516478449106216};
    llvm::Value* a = Abs(x);
    llvm::Value* is_far = b_.CreateFCmpOGT(a, Float(0.5));
    llvm::Value* half = Fma(a, Float(-0.5), Float(0.5));
    llvm::Value* square = b_.CreateSelect(is_far, half, b_.CreateFMul(a, a));
    llvm::Value* root = b_.CreateIntrinsic(llvm::Intrinsic::sqrt, {x->getType()}, {half});
    llvm::Value* r = b_.CreateSelect(is_far, root, a);
    return {is_far, Fma(b_.CreateFMul(r, square), Polynomial(square, kPolynomial), r)};
  }
};

/// A function of one vector of its own, because what is computed lane by lane needs a branch.
llvm::Function* SineFunction(llvm::Module& module, tensor::ExprOp op, llvm::Type* type) {
  constexpr double kLimit = 0x1p20;
  const bool cosine = op == tensor::ExprOp::kCos;
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(type)->getNumElements();
  const std::string name = fmt::format("bayloom_{}_{}", cosine ? "cos" : "sin", lanes);
  if (llvm::Function* known = module.getFunction(name)) return known;
  auto* function = llvm::Function::Create(llvm::FunctionType::get(type, {type}, false),
                                          llvm::Function::InternalLinkage, name, module);
  llvm::LLVMContext& context = module.getContext();
  IrBuilder b(llvm::BasicBlock::Create(context, "entry", function));
  llvm::Value* x = function->getArg(0);
  llvm::Value* y = Trigonometry(b, x).SineOrCosine(x, cosine);
  llvm::Value* a = b.CreateIntrinsic(llvm::Intrinsic::fabs, {type}, {x});
  llvm::Value* is_large = b.CreateFCmpOGE(a, llvm::ConstantFP::get(type, kLimit));
  llvm::BasicBlock* one_by_one = llvm::BasicBlock::Create(context, "one_by_one", function);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(context, "done", function);
  b.CreateCondBr(b.CreateOrReduce(is_large), one_by_one, done);
  b.SetInsertPoint(done);
  b.CreateRet(y);
  b.SetInsertPoint(one_by_one);
  b.CreateRet(b.CreateSelect(is_large, CallLibrary(b, cosine ? "cos" : "sin", {x}), y));
  return function;
}

}  // namespace

llvm::Value* EmitSineOrCosine(IrBuilder& b, tensor::ExprOp op, llvm::Value* x) {
  return b.CreateCall(SineFunction(*b.GetInsertBlock()->getModule(), op, x->getType()), {x});
}

llvm::Value* EmitArc(IrBuilder& b, tensor::ExprOp op, llvm::Value* x) {
  Trigonometry trigonometry(b, x);
  if (op == tensor::ExprOp::kAtan) return trigonometry.ArcTangent(x);
  return op == tensor::ExprOp::kAsin ? trigonometry.ArcSine(x) : trigonometry.ArcCosine(x);
}

}  // namespace bayloom::codegen

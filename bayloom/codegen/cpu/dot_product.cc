// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/dot_product.h"

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

namespace bayloom::codegen {
namespace {

constexpr unsigned kPackedBits = 32;
constexpr int kMinLanes = 4;  // of the instructions

/// LLVM's names of an instruction for 4, 8 and 16 lanes.
struct Intrinsics {
  std::string_view name;
  std::array<llvm::Intrinsic::ID, 3> by_width;
};

constexpr llvm::Intrinsic::ID kNone = llvm::Intrinsic::not_intrinsic;
constexpr std::array kIntrinsics = {
    Intrinsics{"vpdpbusd",
               {llvm::Intrinsic::x86_avx512_vpdpbusd_128, llvm::Intrinsic::x86_avx512_vpdpbusd_256,
                llvm::Intrinsic::x86_avx512_vpdpbusd_512}},
    Intrinsics{"vpdpwssd",
               {llvm::Intrinsic::x86_avx512_vpdpwssd_128, llvm::Intrinsic::x86_avx512_vpdpwssd_256,
                llvm::Intrinsic::x86_avx512_vpdpwssd_512}},
    Intrinsics{"vpmaddubsw",
               {llvm::Intrinsic::x86_ssse3_pmadd_ub_sw_128, llvm::Intrinsic::x86_avx2_pmadd_ub_sw,
                llvm::Intrinsic::x86_avx512_pmaddubs_w_512}},
    Intrinsics{"vpmaddwd",
               {llvm::Intrinsic::x86_sse2_pmadd_wd, llvm::Intrinsic::x86_avx2_pmadd_wd,
                llvm::Intrinsic::x86_avx512_pmaddw_d_512}},
    Intrinsics{"pmaddwd", {llvm::Intrinsic::x86_sse2_pmadd_wd, kNone, kNone}},
    Intrinsics{
        "vdpbf16ps",
        {llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256,
         llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512}},
    Intrinsics{"sdot", {llvm::Intrinsic::aarch64_neon_sdot, kNone, kNone}},
    Intrinsics{"udot", {llvm::Intrinsic::aarch64_neon_udot, kNone, kNone}},
    Intrinsics{"usdot", {llvm::Intrinsic::aarch64_neon_usdot, kNone, kNone}},
    Intrinsics{"bfdot", {llvm::Intrinsic::aarch64_neon_bfdot, kNone, kNone}},
    Intrinsics{"fmlal", {llvm::Intrinsic::aarch64_neon_fmlal, kNone, kNone}},
    Intrinsics{"smmla", {llvm::Intrinsic::aarch64_neon_smmla, kNone, kNone}},
    Intrinsics{"ummla", {llvm::Intrinsic::aarch64_neon_ummla, kNone, kNone}},
    Intrinsics{"usmmla", {llvm::Intrinsic::aarch64_neon_usmmla, kNone, kNone}},
    Intrinsics{"bfmmla", {llvm::Intrinsic::aarch64_neon_bfmmla, kNone, kNone}},
};

llvm::Intrinsic::ID IntrinsicFor(std::string_view name, int lanes) {
  const auto found = std::ranges::find(kIntrinsics, name, &Intrinsics::name);
  const size_t width = lanes == 4 ? 0 : lanes == 8 ? 1 : 2;
  if (found == kIntrinsics.end() || found->by_width[width] == kNone || lanes > 16) {
    throw std::logic_error("an instruction without a form for its lanes");
  }
  return found->by_width[width];
}

/// The first lanes of a vector, or further ones without a value.
llvm::Value* WithWidth(IrBuilder& b, llvm::Value* vector, int lanes) {
  std::vector<int> from(static_cast<size_t>(lanes), llvm::PoisonMaskElem);
  std::iota(from.begin(), from.begin() + std::min(lanes, LanesOf(vector)), 0);
  return b.CreateShuffleVector(vector, from);
}

/// A vector of so many lanes as a vector of elements of another width.
llvm::Value* AsElements(IrBuilder& b, llvm::Value* packed, llvm::Type* element) {
  const unsigned each = packed->getType()->getScalarSizeInBits() / element->getScalarSizeInBits();
  const auto lanes = static_cast<unsigned>(LanesOf(packed));
  return b.CreateBitCast(packed, llvm::FixedVectorType::get(element, lanes * each));
}

/// Bytes at even or at odd places of their pairs, as 16-bit numbers.
llvm::Value* Widened(IrBuilder& b, llvm::Value* packed, bool is_unsigned, bool odd) {
  llvm::Value* pairs = AsElements(b, packed, b.getInt16Ty());
  if (odd) return is_unsigned ? b.CreateLShr(pairs, 8) : b.CreateAShr(pairs, 8);
  if (!is_unsigned) return b.CreateAShr(b.CreateShl(pairs, 8), 8);
  return b.CreateAnd(pairs, llvm::ConstantInt::get(pairs->getType(), 0xff));
}

/// Sums of the products of neighbouring 16-bit numbers, or of bytes in their place.
llvm::Value* PairProducts(IrBuilder& b, const target::DotMethod& method, const PackedFactor& x,
                          const PackedFactor& y) {
  const auto id = IntrinsicFor(method.instruction->name, LanesOf(x.value));
  if (method.operands != target::DotOperands::kWidened) {
    return b.CreateIntrinsic(
        id, {}, {AsElements(b, x.value, b.getInt16Ty()), AsElements(b, y.value, b.getInt16Ty())});
  }
  const auto part = [&](bool odd) {
    return b.CreateIntrinsic(id, {},
                             {Widened(b, x.value, tensor::IsUnsigned(x.dtype), odd),
                              Widened(b, y.value, tensor::IsUnsigned(y.dtype), odd)});
  };
  return b.CreateAdd(part(false), part(true));
}

/// Products of halves in float32, those at even places of their pairs and then those at odd ones:
/// the instruction takes the first four of its registers' eight.
llvm::Value* EmitHalves(IrBuilder& b, const PackedFactor& x, const PackedFactor& y,
                        llvm::Value* sums) {
  llvm::Type* half = llvm::Type::getHalfTy(b.getContext());
  for (const int first : {0, 1}) {
    std::vector<int> from(8, llvm::PoisonMaskElem);
    for (int lane = 0; lane < kMinLanes; ++lane) from[lane] = 2 * lane + first;
    llvm::Value* const operands[] = {b.CreateShuffleVector(AsElements(b, x.value, half), from),
                                     b.CreateShuffleVector(AsElements(b, y.value, half), from)};
    sums = b.CreateIntrinsic(IntrinsicFor("fmlal", LanesOf(sums)),
                             {sums->getType(), operands[0]->getType()},
                             {sums, operands[0], operands[1]});
  }
  return sums;
}

/// Whether the instruction is AArch64's: its intrinsics take vectors of elements and are
/// overloaded.
bool IsNeonDot(std::string_view name) { return name.ends_with("dot"); }

/// Of two operands of which only one is unsigned, it is `x` that the instruction wants to be; of
/// two of one sign it is that sign's instruction.
llvm::Value* EmitNeonDot(IrBuilder& b, std::string_view name, const PackedFactor& x,
                         const PackedFactor& y, llvm::Value* sums) {
  const bool x_is_unsigned = tensor::IsUnsigned(x.dtype),
             y_is_unsigned = tensor::IsUnsigned(y.dtype);
  if (!x_is_unsigned && y_is_unsigned) return EmitNeonDot(b, name, y, x, sums);
  if (name != "bfdot" && x_is_unsigned == y_is_unsigned) name = x_is_unsigned ? "udot" : "sdot";
  llvm::Type* element = name == "bfdot" ? llvm::Type::getBFloatTy(b.getContext())
                                        : llvm::Type::getInt8Ty(b.getContext());
  llvm::Value* const elements[] = {AsElements(b, x.value, element),
                                   AsElements(b, y.value, element)};
  return b.CreateIntrinsic(IntrinsicFor(name, LanesOf(sums)),
                           {sums->getType(), elements[0]->getType()},
                           {sums, elements[0], elements[1]});
}

/// The sums of the two halves of each of so many lanes, of 128 bits at least.
llvm::Value* AddHalves(IrBuilder& b, llvm::Value* halves, int lanes) {
  llvm::Value* ones = llvm::ConstantInt::get(halves->getType(), 1);
  return b.CreateIntrinsic(IntrinsicFor("vpmaddwd", lanes), {}, {halves, ones});
}

/// Sums of two products fit into 16 bits.
llvm::Value* EmitSmallBytes(IrBuilder& b, const PackedFactor& x, const PackedFactor& y,
                            llvm::Value* sums, bool in_halves) {
  const PackedFactor &small = tensor::IsUnsigned(x.dtype) ? x : y,
                     &other = tensor::IsUnsigned(x.dtype) ? y : x;
  const int lanes = LanesOf(sums);
  llvm::Value* pairs = b.CreateIntrinsic(
      IntrinsicFor("vpmaddubsw", lanes), {},
      {AsElements(b, small.value, b.getInt8Ty()), AsElements(b, other.value, b.getInt8Ty())});
  if (!in_halves) return b.CreateAdd(sums, AddHalves(b, pairs, lanes));
  llvm::Value* halves = b.CreateAdd(b.CreateBitCast(sums, pairs->getType()), pairs);
  return b.CreateBitCast(halves, sums->getType());
}

llvm::Value* EmitFull(IrBuilder& b, const target::DotMethod& method, const PackedFactor& x,
                      const PackedFactor& y, llvm::Value* sums, bool in_halves) {
  const std::string_view name = method.instruction->name;
  if (name == "fmlal") return EmitHalves(b, x, y, sums);
  if (IsNeonDot(name)) return EmitNeonDot(b, name, x, y, sums);
  if (name == "vpmaddubsw") return EmitSmallBytes(b, x, y, sums, in_halves);
  if (name.ends_with("pmaddwd")) return b.CreateAdd(sums, PairProducts(b, method, x, y));
  const auto id = IntrinsicFor(name, LanesOf(sums));
  if (name == "vpdpbusd" && !tensor::IsUnsigned(x.dtype)) {
    return b.CreateIntrinsic(id, {}, {sums, y.value, x.value});
  }
  if (name != "vdpbf16ps") return b.CreateIntrinsic(id, {}, {sums, x.value, y.value});
  llvm::Type* bfloat = llvm::Type::getBFloatTy(b.getContext());
  return b.CreateIntrinsic(id, {},
                           {sums, AsElements(b, x.value, bfloat), AsElements(b, y.value, bfloat)});
}

}  // namespace

llvm::Value* EmitDot(IrBuilder& b, const target::DotMethod& method, const PackedFactor& x,
                     const PackedFactor& y, llvm::Value* sums, bool in_halves) {
  const int lanes = LanesOf(sums), width = std::max(lanes, kMinLanes);
  const auto widen = [&](const PackedFactor& factor) {
    llvm::Value* value = factor.value;
    if (LanesOf(value) == 1) return PackedFactor{Splat(b, value, width), factor.dtype};
    return PackedFactor{lanes == width ? value : WithWidth(b, value, width), factor.dtype};
  };
  if (lanes == width) return EmitFull(b, method, widen(x), widen(y), sums, in_halves);
  llvm::Value* wide = EmitFull(b, method, widen(x), widen(y), WithWidth(b, sums, width), in_halves);
  return WithWidth(b, wide, lanes);
}

llvm::Value* SumsOfHalves(IrBuilder& b, llvm::Value* sums) {
  const int lanes = LanesOf(sums), width = std::max(lanes, kMinLanes);
  llvm::Value* wide = lanes == width ? sums : WithWidth(b, sums, width);
  wide = AddHalves(b, AsElements(b, wide, b.getInt16Ty()), width);
  return lanes == width ? wide : WithWidth(b, wide, lanes);
}

PackedFactor Shifted(IrBuilder& b, const PackedFactor& factor, int lanes) {
  llvm::Value* value = Splat(b, factor.value, lanes);
  const tensor::DType other =
      factor.dtype == tensor::DType::kInt8 ? tensor::DType::kUInt8 : tensor::DType::kInt8;
  return {b.CreateXor(value, llvm::ConstantInt::get(value->getType(), 0x80808080U)), other};
}

PackedFactor ShiftOf(const PackedFactor& shifted) {
  return {llvm::ConstantInt::get(shifted.value->getType(), 0x80808080U), shifted.dtype};
}

PackedFactor PartOf(IrBuilder& b, const PackedFactor& factor, int part) {
  const int lanes = LanesOf(factor.value);
  if (lanes == 1) {
    llvm::Value* bits = b.CreateLShr(factor.value, static_cast<uint64_t>(part) * kPackedBits);
    return {b.CreateTrunc(bits, b.getInt32Ty()), factor.dtype};
  }
  std::vector<int> from;
  for (int lane = 0; lane < lanes; ++lane) from.push_back(2 * lane + part);
  return {b.CreateShuffleVector(AsElements(b, factor.value, b.getInt32Ty()), from), factor.dtype};
}

bool IsTransposed(tensor::DType rows, tensor::DType columns) {
  return !tensor::IsUnsigned(rows) && tensor::IsUnsigned(columns);
}

llvm::Value* EmitMatrix(IrBuilder& b, const target::DotInstruction& instruction,
                        const PackedFactor& rows, const PackedFactor& columns, llvm::Value* sums) {
  const bool is_float = tensor::IsFloat(rows.dtype);
  llvm::Type* element =
      is_float ? llvm::Type::getBFloatTy(b.getContext()) : llvm::Type::getInt8Ty(b.getContext());
  llvm::Value* first = AsElements(b, rows.value, element);
  llvm::Value* second = AsElements(b, columns.value, element);
  if (IsTransposed(rows.dtype, columns.dtype)) std::swap(first, second);
  std::vector<llvm::Type*> overloaded;
  if (!is_float) overloaded = {sums->getType(), first->getType()};
  return b.CreateIntrinsic(IntrinsicFor(instruction.name, LanesOf(sums)), overloaded,
                           {sums, first, second});
}

llvm::Value* Pack(IrBuilder& b, const std::vector<llvm::Value*>& elements) {
  const int count = static_cast<int>(elements.size()), lanes = LanesOf(elements[0]);
  const unsigned bits = elements[0]->getType()->getScalarSizeInBits();
  if (static_cast<unsigned>(count) * bits > kPackedBits) {
    const auto middle = elements.begin() + count / 2;
    llvm::Type* wide = WithLanes(b.getInt64Ty(), lanes);
    llvm::Value* low = b.CreateZExt(Pack(b, {elements.begin(), middle}), wide);
    llvm::Value* high = b.CreateZExt(Pack(b, {middle, elements.end()}), wide);
    return b.CreateOr(low, b.CreateShl(high, uint64_t{kPackedBits}));
  }
  if (lanes == 1) {
    llvm::Value* packed = nullptr;
    for (int i = 0; i < count; ++i) {
      llvm::Value* element = b.CreateZExt(elements[i], b.getInt32Ty());
      const unsigned shift = static_cast<unsigned>(i) * kPackedBits / static_cast<unsigned>(count);
      element = b.CreateShl(element, shift);
      packed = packed ? b.CreateOr(packed, element) : element;
    }
    return packed;
  }
  std::vector<llvm::Value*> parts = elements;
  while (parts.size() > 1) {
    std::vector<llvm::Value*> longer;
    for (size_t i = 0; i < parts.size(); i += 2) {
      std::vector<int> all(2 * static_cast<size_t>(LanesOf(parts[i])));
      std::iota(all.begin(), all.end(), 0);
      longer.push_back(b.CreateShuffleVector(parts[i], parts[i + 1], all));
    }
    parts = std::move(longer);
  }
  std::vector<int> from;
  for (int lane = 0; lane < lanes; ++lane) {
    for (int i = 0; i < count; ++i) from.push_back(i * lanes + lane);
  }
  llvm::Value* together = b.CreateShuffleVector(parts[0], from);
  return b.CreateBitCast(together, WithLanes(b.getInt32Ty(), lanes));
}

llvm::Constant* PackedLiteral(IrBuilder& b, tensor::DType dtype, int64_t value, int count) {
  const auto bits = static_cast<unsigned>(8 * tensor::ByteSize(dtype));
  const llvm::APInt element(bits, static_cast<uint64_t>(value));
  return b.getInt(llvm::APInt::getSplat(bits * static_cast<unsigned>(count), element));
}

}  // namespace bayloom::codegen

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// Names of enumerators, in files and in print.

inline constexpr auto kOpNames = std::to_array<std::pair<ExprOp, std::string_view>>({
    {ExprOp::kInt, "int"},
    {ExprOp::kFloat, "float"},
    {ExprOp::kIter, "iter"},
    {ExprOp::kLoad, "load"},
    {ExprOp::kAdd, "add"},
    {ExprOp::kSub, "sub"},
    {ExprOp::kMul, "mul"},
    {ExprOp::kDiv, "div"},
    {ExprOp::kFloorDiv, "floordiv"},
    {ExprOp::kFloorMod, "floormod"},
    {ExprOp::kMod, "mod"},
    {ExprOp::kMin, "min"},
    {ExprOp::kMax, "max"},
    {ExprOp::kPow, "pow"},
    {ExprOp::kShiftLeft, "shl"},
    {ExprOp::kShiftRight, "shr"},
    {ExprOp::kLess, "less"},
    {ExprOp::kLessEqual, "less_equal"},
    {ExprOp::kEqual, "equal"},
    {ExprOp::kAnd, "and"},
    {ExprOp::kOr, "or"},
    {ExprOp::kXor, "xor"},
    {ExprOp::kNot, "not"},
    {ExprOp::kSelect, "select"},
    {ExprOp::kCast, "cast"},
    {ExprOp::kNegate, "negate"},
    {ExprOp::kAbs, "abs"},
    {ExprOp::kSign, "sign"},
    {ExprOp::kFloor, "floor"},
    {ExprOp::kCeil, "ceil"},
    {ExprOp::kRound, "round"},
    {ExprOp::kSqrt, "sqrt"},
    {ExprOp::kExp, "exp"},
    {ExprOp::kLog, "log"},
    {ExprOp::kErf, "erf"},
    {ExprOp::kSin, "sin"},
    {ExprOp::kCos, "cos"},
    {ExprOp::kTan, "tan"},
    {ExprOp::kAsin, "asin"},
    {ExprOp::kAcos, "acos"},
    {ExprOp::kAtan, "atan"},
    {ExprOp::kSinh, "sinh"},
    {ExprOp::kCosh, "cosh"},
    {ExprOp::kTanh, "tanh"},
    {ExprOp::kAsinh, "asinh"},
    {ExprOp::kAcosh, "acosh"},
    {ExprOp::kAtanh, "atanh"},
    {ExprOp::kIsNan, "isnan"},
    {ExprOp::kIsInf, "isinf"},
    {ExprOp::kCall, "call"},
    {ExprOp::kSize, "size"},
});
inline constexpr auto kRoleNames = std::to_array<std::pair<BufferRole, std::string_view>>({
    {BufferRole::kInput, "input"},
    {BufferRole::kConstant, "constant"},
    {BufferRole::kIntermediate, "intermediate"},
    {BufferRole::kOutput, "output"},
    {BufferRole::kSize, "size"},
});
inline constexpr auto kScopeNames = std::to_array<std::pair<StorageScope, std::string_view>>({
    {StorageScope::kGlobal, "global"},
    {StorageScope::kShared, "shared"},
    {StorageScope::kLocal, "local"},
});
inline constexpr auto kReductionNames = std::to_array<std::pair<Reduction, std::string_view>>({
    {Reduction::kNone, "none"},
    {Reduction::kSum, "sum"},
    {Reduction::kProduct, "product"},
    {Reduction::kMin, "min"},
    {Reduction::kMax, "max"},
});

inline constexpr auto kLibraryKernelNames =
    std::to_array<std::pair<LibraryKernel, std::string_view>>({
        {LibraryKernel::kTopK, "topk"},
        {LibraryKernel::kArgExtreme, "arg_extreme"},
        {LibraryKernel::kScan, "scan"},
        {LibraryKernel::kScatterRows, "scatter_rows"},
        {LibraryKernel::kScatterElements, "scatter_elements"},
        {LibraryKernel::kNonZero, "nonzero"},
        {LibraryKernel::kUnique, "unique"},
        {LibraryKernel::kNonMaxSuppression, "nms"},
    });
inline constexpr auto kLoopKindNames = std::to_array<std::pair<LoopKind, std::string_view>>({
    {LoopKind::kSerial, "serial"},
    {LoopKind::kParallel, "parallel"},
    {LoopKind::kVectorized, "vectorized"},
    {LoopKind::kUnrolled, "unrolled"},
    {LoopKind::kBlockX, "block_x"},
    {LoopKind::kBlockY, "block_y"},
    {LoopKind::kBlockZ, "block_z"},
    {LoopKind::kThreadX, "thread_x"},
    {LoopKind::kThreadY, "thread_y"},
    {LoopKind::kThreadZ, "thread_z"},
    {LoopKind::kVirtualThread, "virtual_thread"},
    {LoopKind::kTensorized, "tensorized"},
    {LoopKind::kCooperative, "cooperative"},
    {LoopKind::kGridThread, "grid_thread"},
    {LoopKind::kThreadReduce, "thread_reduce"},
});

template <typename Table, typename Value>
constexpr std::string_view NameIn(const Table& table, Value value) {
  for (const auto& [entry, name] : table) {
    if (entry == value) return name;
  }
  throw std::logic_error("an enumerator without a name");
}

constexpr std::string_view NameOf(ExprOp op) { return NameIn(kOpNames, op); }
constexpr std::string_view NameOf(BufferRole role) { return NameIn(kRoleNames, role); }
constexpr std::string_view NameOf(StorageScope scope) { return NameIn(kScopeNames, scope); }
constexpr std::string_view NameOf(Reduction reduction) {
  return NameIn(kReductionNames, reduction);
}
constexpr std::string_view NameOf(LoopKind kind) { return NameIn(kLoopKindNames, kind); }
constexpr std::string_view NameOf(LibraryKernel kernel) {
  return NameIn(kLibraryKernelNames, kernel);
}

}  // namespace bayloom::tensor

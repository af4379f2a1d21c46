// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::tensor {

/// Algorithms for what a nest of loops would compute with too much work: sorting, scattering,
/// prefix sums. A call of one is an expression, ExprOp::kCall, that computes a whole tensor. It is
/// the value of the only stage of its workload; no schedule primitive changes it, and code for it
/// calls a function of the runtime (codegen/runtime/bayloom_kernels.h).
///
/// In the expression an operand is written as a load of its first element and stands for the whole
/// tensor; the numbers, which fix all sizes, are literals behind the operands. Tensors are
/// row-major and dense, so a shape with the same elements in the same order will do.
enum class LibraryKernel : uint8_t {
  /// x[outer, n, inner] -> int64 [outer, k, inner]: where along n the k first elements in
  /// descending
  /// order (`largest`) or ascending order are, in that order, the lower index first among equal
  /// ones; NaN is greater than all numbers. Numbers: outer, n, inner, k, largest.
  kTopK,
  /// x[outer, n, inner] -> int64 [outer, inner]: where along n the extreme is, the first or the
  /// last
  /// of equal ones; NaN is more extreme than all numbers. Numbers: outer, n, inner, largest, last.
  kArgExtreme,
  /// x[outer, n, inner] -> sums or products along n up to each element, floats in double precision.
  /// Numbers: outer, n, inner, product, exclusive, reverse.
  kScan,
  /// data[dims..., row], int64 indices[tuples, depth], updates[tuples, row] -> the data with update
  /// after update combined into the row that its tuple names. Numbers: reduction (as in Reduction;
  /// none replaces), tuples, depth, row, dims[depth].
  kScatterRows,
  /// data[dims], int64 indices[index dims], updates[index dims] -> the data with every update
  /// combined into the element at its own place, but for `axis`, where the index says. Numbers:
  /// reduction, axis, rank, dims[rank], index dims[rank].
  kScatterElements,

  // The following find how many rows their results have: the first number of an int64 result is
  // the count, the rows follow; what is beyond the count is not specified. Rows beyond `capacity`
  // are counted only. How long dimensions are is an operand.

  /// bool x[n], length -> [1 + capacity]: where x is true, in order. Numbers: n, capacity.
  kNonZero,
  /// x[outer, n, inner], length of n -> [1 + n, 3]: the slices along n, each once, in ascending
  /// order (`sorted`) or that of their first ones. Row u has where the first one is of the slices
  /// that are equal to unique slice u, and how many are; row i has which unique slice slice i is.
  /// Numbers: outer, n, inner, sorted.
  kUnique,
  /// float32 boxes[batches, n, 4], scores[batches, classes, n], int64 limits[4] (batches, classes,
  /// boxes, boxes selected per class), thresholds[2] (of intersection over union, of scores) ->
  /// [1 + capacity, 3]: ONNX's NonMaxSuppression. Numbers: batches, classes, n, centered, capacity.
  kNonMaxSuppression,
};

/// Whether it finds the number of rows of its result.
constexpr bool FindsRows(LibraryKernel kernel) { return kernel >= LibraryKernel::kNonZero; }

struct LibraryCall {
  LibraryKernel kernel = LibraryKernel::kTopK;
  DType dtype = DType::kInt64;  ///< of the result
  std::vector<BufferId> operands;
  std::vector<int64_t> numbers;
};

/// "topk"
std::string ToString(LibraryKernel kernel);

/// The call as an expression; `operands` are the tensors it reads.
Expr MakeCall(LibraryKernel kernel, DType dtype, const std::vector<Tensor>& operands,
              const std::vector<int64_t>& numbers);
/// What an expression calls; nullopt if it is something else.
std::optional<LibraryCall> AsCall(const Expr& e);
/// The call that the program consists of; nullopt if it does not.
std::optional<LibraryCall> AsCall(const Program& program);
/// Whether the workload is a call, and so its only stage is.
bool IsCall(const Workload& workload);

/// An operand or the result of a call.
struct CallTensor {
  DType dtype;
  int64_t elements;
};
inline CallTensor CallTensorOf(const Buffer& buffer) {
  return {buffer.dtype, buffer.ElementCount()};
}
/// Refuses a call whose numbers do not suit its tensors. `operands` parallel to call.operands.
Status CheckCall(const LibraryCall& call, const std::vector<CallTensor>& operands,
                 const CallTensor& result);

/// Whether operand number i holds indices, and what these stay below; nullopt otherwise.
std::optional<int64_t> IndexBound(const LibraryCall& call, int operand);
/// Operations on elements that a run takes, about: n log k for a selection.
double OperationsOf(const LibraryCall& call);
/// Terms that are summed up on the way to any element, at most.
double LongestSum(const LibraryCall& call);

/// The reference: computes the call by its definition. `shape` is the result's.
HostTensor Evaluate(const LibraryCall& call, const std::vector<const HostTensor*>& operands,
                    std::vector<int64_t> shape);

}  // namespace bayloom::tensor

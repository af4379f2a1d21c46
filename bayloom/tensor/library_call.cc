// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/library_call.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "bayloom/tensor/names.h"

namespace bayloom::tensor {
namespace {

constexpr double kMaxCallElements = 0x1p48;
constexpr int64_t kMaxCallRank = 16;

double ProductOf(std::span<const int64_t> extents) {
  double product = 1;
  for (int64_t extent : extents) product *= static_cast<double>(extent);
  return product;
}

/// What a call's numbers say about its tensors.
struct CallSizes {
  std::vector<double> operands;
  double result = 0;
};

bool IsFlag(int64_t number) { return number == 0 || number == 1; }

bool IsReductionNumber(int64_t number) {
  return number >= 0 && number <= static_cast<int64_t>(Reduction::kMax);
}

bool AllPositive(std::span<const int64_t> extents) {
  return std::all_of(extents.begin(), extents.end(), [](int64_t extent) { return extent >= 1; });
}

/// Sizes of calls over x[outer, n, inner]; `results`: elements along n in the result.
std::optional<CallSizes> LineSizes(std::span<const int64_t> numbers, int64_t results) {
  if (!AllPositive(numbers.first(3)) || results < 1 || results > numbers[1]) return std::nullopt;
  const double lines = ProductOf(numbers.first(1)) * static_cast<double>(numbers[2]);
  return CallSizes{{lines * static_cast<double>(numbers[1])}, lines * static_cast<double>(results)};
}

std::optional<CallSizes> RowSizes(std::span<const int64_t> numbers) {
  if (numbers.size() < 5 || !IsReductionNumber(numbers[0]) || !AllPositive(numbers.subspan(1)) ||
      numbers[2] != static_cast<int64_t>(numbers.size()) - 4) {
    return std::nullopt;
  }
  const auto tuples = static_cast<double>(numbers[1]), row = static_cast<double>(numbers[3]);
  const double data = ProductOf(numbers.subspan(4)) * row;
  return CallSizes{{data, tuples * static_cast<double>(numbers[2]), tuples * row}, data};
}

std::optional<CallSizes> ElementSizes(std::span<const int64_t> numbers) {
  if (numbers.size() < 5 || !IsReductionNumber(numbers[0])) return std::nullopt;
  const int64_t axis = numbers[1], rank = numbers[2];
  const bool fits = rank >= 1 && rank <= kMaxCallRank && axis >= 0 && axis < rank &&
                    static_cast<int64_t>(numbers.size()) == 3 + 2 * rank;
  if (!fits || !AllPositive(numbers.subspan(3))) return std::nullopt;
  const auto dims = numbers.subspan(3, rank), index_dims = numbers.subspan(3 + rank);
  for (int64_t d = 0; d < rank; ++d) {
    if (d != axis && index_dims[d] > dims[d]) return std::nullopt;
  }
  const double data = ProductOf(dims), updates = ProductOf(index_dims);
  return CallSizes{{data, updates, updates}, data};
}

/// Of calls that find the number of rows of their results.
std::optional<CallSizes> FoundSizes(const LibraryCall& call) {
  const std::vector<int64_t>& n = call.numbers;
  const auto number = [&](size_t i) { return static_cast<double>(n[i]); };
  const size_t sizes = call.kernel == LibraryKernel::kNonZero ? 1 : 3;
  const size_t all = call.kernel == LibraryKernel::kNonZero  ? 2
                     : call.kernel == LibraryKernel::kUnique ? 4
                                                             : 5;
  if (n.size() != all || !AllPositive(std::span(n).first(sizes)) || n.back() < 0) {
    return std::nullopt;
  }
  if (call.kernel == LibraryKernel::kNonZero) return CallSizes{{number(0), 1}, 1 + number(1)};
  if (!IsFlag(n[3])) return std::nullopt;
  if (call.kernel == LibraryKernel::kUnique) {
    return CallSizes{{ProductOf(std::span(n).first(3)), 1}, 3 * (1 + number(1))};
  }
  if (number(2) > std::numeric_limits<int32_t>::max()) return std::nullopt;
  const double boxes = number(0) * number(2);
  return CallSizes{{4 * boxes, boxes * number(1), 4, 2}, 3 * (1 + number(4))};
}

/// nullopt if the numbers make no sense.
std::optional<CallSizes> SizesOf(const LibraryCall& call) {
  const std::vector<int64_t>& n = call.numbers;
  switch (call.kernel) {
    case LibraryKernel::kTopK:
      if (n.size() != 5 || !IsFlag(n[4])) return std::nullopt;
      return LineSizes(n, n[3]);
    case LibraryKernel::kArgExtreme:
      if (n.size() != 5 || !IsFlag(n[3]) || !IsFlag(n[4])) return std::nullopt;
      return LineSizes(n, 1);
    case LibraryKernel::kScan:
      if (n.size() != 6 || !IsFlag(n[3]) || !IsFlag(n[4]) || !IsFlag(n[5])) return std::nullopt;
      return LineSizes(n, n[1]);
    case LibraryKernel::kScatterRows:
      return RowSizes(n);
    case LibraryKernel::kScatterElements:
      return ElementSizes(n);
    case LibraryKernel::kNonZero:
    case LibraryKernel::kUnique:
    case LibraryKernel::kNonMaxSuppression:
      return FoundSizes(call);
  }
  return std::nullopt;
}

bool IsScatter(LibraryKernel kernel) {
  return kernel == LibraryKernel::kScatterRows || kernel == LibraryKernel::kScatterElements;
}

bool TypesSuit(const LibraryCall& call, const std::vector<CallTensor>& operands) {
  if (IsScatter(call.kernel)) {
    const bool computes = call.numbers[0] != 0;
    return operands[0].dtype == call.dtype && operands[1].dtype == DType::kInt64 &&
           operands[2].dtype == call.dtype && !(computes && call.dtype == DType::kBool);
  }
  if (FindsRows(call.kernel)) {
    std::vector<DType> types = {operands[0].dtype, DType::kInt64};
    if (call.kernel == LibraryKernel::kNonZero) types[0] = DType::kBool;
    if (call.kernel == LibraryKernel::kNonMaxSuppression) {
      types = {DType::kFloat32, DType::kFloat32, DType::kInt64, DType::kFloat32};
    }
    return call.dtype == DType::kInt64 &&
           std::ranges::equal(operands, types, {}, &CallTensor::dtype);
  }
  if (operands[0].dtype == DType::kBool) return false;
  return call.dtype == (call.kernel == LibraryKernel::kScan ? operands[0].dtype : DType::kInt64);
}

}  // namespace

std::string ToString(LibraryKernel kernel) { return std::string(NameOf(kernel)); }

Expr MakeCall(LibraryKernel kernel, DType dtype, const std::vector<Tensor>& operands,
              const std::vector<int64_t>& numbers) {
  ExprNode node{ExprOp::kCall, dtype, static_cast<int>(kernel)};
  for (const Tensor& operand : operands) {
    node.operands.push_back(operand.At(std::vector<Expr>(operand.shape().size(), Expr(0))));
  }
  for (int64_t number : numbers) node.operands.push_back(IntLiteral(number));
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

std::optional<LibraryCall> AsCall(const Expr& e) {
  if (!e.defined() || e->op != ExprOp::kCall) return std::nullopt;
  LibraryCall call{static_cast<LibraryKernel>(e->index), e->dtype, {}, {}};
  for (const Expr& operand : e->operands) {
    if (operand->op == ExprOp::kLoad) {
      call.operands.push_back(operand->index);
    } else {
      call.numbers.push_back(operand->int_value);
    }
  }
  return call;
}

std::optional<LibraryCall> AsCall(const Program& program) {
  if (program.roots.size() != 1 || !program.roots[0].is_block()) return std::nullopt;
  return AsCall(program.blocks[program.roots[0].id].value);
}

bool IsCall(const Workload& workload) {
  return workload.stages.size() == 1 && AsCall(workload.stages[0].value).has_value();
}

Status CheckCall(const LibraryCall& call, const std::vector<CallTensor>& operands,
                 const CallTensor& result) {
  const std::optional<CallSizes> sizes = SizesOf(call);
  const std::string name = ToString(call.kernel);
  if (!sizes) return Error{"the numbers of a call of " + name + " make no sense"};
  if (operands.size() != sizes->operands.size()) {
    return Error{"a call of " + name + " has another number of operands"};
  }
  bool fits = sizes->result == static_cast<double>(result.elements) &&
              sizes->result <= kMaxCallElements && result.dtype == call.dtype;
  for (size_t i = 0; i < operands.size(); ++i) {
    fits = fits && sizes->operands[i] <= kMaxCallElements &&
           sizes->operands[i] == static_cast<double>(operands[i].elements);
  }
  if (!fits) return Error{"the numbers of a call of " + name + " are not those of its tensors"};
  if (!TypesSuit(call, operands)) return Error{"a call of " + name + " has unsuitable types"};
  return Ok();
}

std::optional<int64_t> IndexBound(const LibraryCall& call, int operand) {
  if (!IsScatter(call.kernel) || operand != 1) return std::nullopt;
  if (call.kernel == LibraryKernel::kScatterElements) return call.numbers[3 + call.numbers[1]];
  return *std::min_element(call.numbers.begin() + 4, call.numbers.end());
}

double OperationsOf(const LibraryCall& call) {
  const CallSizes sizes = *SizesOf(call);
  switch (call.kernel) {
    case LibraryKernel::kTopK:
      return sizes.operands[0] + sizes.result * std::log2(static_cast<double>(call.numbers[3]) + 1);
    case LibraryKernel::kArgExtreme:
    case LibraryKernel::kScan:
      return sizes.operands[0];
    case LibraryKernel::kNonZero:
      return sizes.operands[0];
    case LibraryKernel::kUnique:
      return sizes.operands[0] * std::log2(static_cast<double>(call.numbers[1]) + 1);
    case LibraryKernel::kNonMaxSuppression:
      return sizes.operands[1] * std::log2(static_cast<double>(call.numbers[2]) + 1);
    case LibraryKernel::kScatterRows:
    case LibraryKernel::kScatterElements:
      break;
  }
  return sizes.operands[0] + sizes.operands[2];
}

double LongestSum(const LibraryCall& call) {
  if (call.kernel == LibraryKernel::kScan) return static_cast<double>(call.numbers[1]);
  if (IsScatter(call.kernel) && call.numbers[0] != 0) return SizesOf(call)->operands[1];
  return 0;
}

}  // namespace bayloom::tensor

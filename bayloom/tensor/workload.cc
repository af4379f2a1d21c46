// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/workload.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/open_axis.h"

namespace bayloom::tensor {
namespace {

Expr LowestValue(DType dtype) {
  if (IsFloat(dtype)) return FloatLiteral(-std::numeric_limits<double>::infinity(), dtype);
  if (IsUnsigned(dtype) || dtype == DType::kBool) return IntLiteral(0, dtype);
  return IntLiteral(static_cast<int64_t>(~uint64_t{0} << (8 * ByteSize(dtype) - 1)), dtype);
}

Expr HighestValue(DType dtype) {
  if (IsFloat(dtype)) return FloatLiteral(std::numeric_limits<double>::infinity(), dtype);
  if (dtype == DType::kBool) return BoolLiteral(true);
  if (IsUnsigned(dtype)) return IntLiteral(-1, dtype);  // wraps to all ones
  return IntLiteral(~LowestValue(dtype)->int_value, dtype);
}

struct OpCount {
  double ops = 0;
  bool reads_data = false;
};

/// Arithmetic per evaluation; what only concerns indices and iterators is free.
OpCount CountOps(const Expr& e) {
  if (e->op == ExprOp::kLoad) return {0, true};
  OpCount total;
  for (size_t i = 0; i < e->operands.size(); ++i) {
    const OpCount part = CountOps(e->operands[i]);
    total.reads_data |= part.reads_data;
    // Only one side of a select is computed.
    const bool alternative = e->op == ExprOp::kSelect && i == 2;
    total.ops = alternative ? std::max(total.ops, part.ops) : total.ops + part.ops;
  }
  const bool arithmetic = (e->op >= ExprOp::kAdd && e->op <= ExprOp::kShiftRight) ||
                          (e->op >= ExprOp::kNegate && e->op <= ExprOp::kAtanh);
  if (arithmetic && (IsFloat(e->dtype) || total.reads_data)) total.ops += 1;
  return total;
}

std::vector<BufferId> ParametersOf(const std::vector<Buffer>& buffers) {
  std::vector<BufferId> parameters;
  for (const bool outputs : {false, true}) {
    for (size_t i = 0; i < buffers.size(); ++i) {
      const BufferRole role = buffers[i].role;
      const bool is_output = role == BufferRole::kOutput;
      if (role != BufferRole::kIntermediate && is_output == outputs)
        parameters.push_back(static_cast<BufferId>(i));
    }
  }
  return parameters;
}

std::vector<Iter> SpatialIters(const std::vector<int64_t>& shape,
                               const std::vector<std::string>& names) {
  if (!names.empty() && names.size() != shape.size()) {
    throw std::invalid_argument("there must be one axis name per dimension");
  }
  static constexpr std::string_view kDefaultNames = "ijklmnopqrst";
  std::vector<Iter> iters;
  for (size_t d = 0; d < shape.size(); ++d) {
    std::string name = !names.empty()             ? names[d]
                       : d < kDefaultNames.size() ? std::string(1, kDefaultNames[d])
                                                  : "d" + std::to_string(d);
    iters.push_back({std::move(name), shape[d], IterKind::kSpatial});
  }
  return iters;
}

}  // namespace

int64_t Buffer::ElementCount() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

int64_t Buffer::MemorySpan() const {
  int64_t last = 0;
  for (size_t d = 0; d < shape.size(); ++d) last = last * MemoryShape()[d] + shape[d] - 1;
  return last + 1;
}

Expr NeutralElement(Reduction reduction, DType dtype) {
  switch (reduction) {
    case Reduction::kSum:
      return Literal(0, dtype);
    case Reduction::kProduct:
      return Literal(1, dtype);
    case Reduction::kMin:
      return HighestValue(dtype);
    case Reduction::kMax:
      return LowestValue(dtype);
    case Reduction::kNone:
      break;
  }
  throw std::invalid_argument("a plain stage has no neutral element");
}

Expr Combine(Reduction reduction, Expr a, Expr b) {
  switch (reduction) {
    case Reduction::kSum:
      return std::move(a) + std::move(b);
    case Reduction::kProduct:
      return std::move(a) * std::move(b);
    case Reduction::kMin:
      return Min(std::move(a), std::move(b));
    case Reduction::kMax:
      return Max(std::move(a), std::move(b));
    case Reduction::kNone:
      break;
  }
  throw std::invalid_argument("a plain stage combines nothing");
}

std::vector<BufferId> Workload::Parameters() const { return ParametersOf(buffers); }

int Workload::SizeCount() const {
  const auto is_other = [](const Buffer& buffer) { return buffer.role != BufferRole::kSize; };
  return static_cast<int>(std::ranges::find_if(buffers, is_other) - buffers.begin());
}

int Workload::Producer(BufferId buffer) const {
  for (size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].output == buffer) return static_cast<int>(i);
  }
  return -1;
}

namespace {

/// Of a run with these values of the sizes; without any: with the largest.
double FlopsWith(const Workload& workload, const std::vector<int64_t>& sizes) {
  double total = 0;
  for (const Stage& stage : workload.stages) {
    if (const std::optional<LibraryCall> call = AsCall(stage.value)) {
      total += OperationsOf(*call);
      continue;
    }
    double iterations = 1;
    for (const Iter& iter : stage.iters) {
      int64_t length = iter.extent;
      if (iter.bound.is_open() && !sizes.empty()) {
        const int64_t elements = sizes[static_cast<size_t>(iter.bound.size)] + iter.bound.beyond;
        length = std::min(length, (elements + iter.bound.step - 1) / iter.bound.step);
      }
      iterations *= static_cast<double>(length);
    }
    const double combine = stage.reduction == Reduction::kNone ? 0 : 1;
    total += iterations * (CountOps(stage.value).ops + combine);
  }
  return total;
}

}  // namespace

double Workload::Flops() const {
  if (points.empty()) return FlopsWith(*this, {});
  double logs = 0;
  int count = 0;
  for (const std::vector<int64_t>& sizes : points) {
    const double flops = FlopsWith(*this, sizes);
    if (flops <= 0) continue;  // nothing is there
    logs += std::log(flops);
    ++count;
  }
  return count == 0 ? 0 : std::exp(logs / count);
}

WorkloadBuilder::WorkloadBuilder(std::string name) { workload_.name = std::move(name); }

Tensor WorkloadBuilder::AddBuffer(std::string name, std::vector<int64_t> shape, DType dtype,
                                  BufferRole role) {
  for (int64_t extent : shape) {
    if (extent < 1) throw std::invalid_argument("tensor " + name + " has an empty dimension");
  }
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(workload_.buffers.begin(), workload_.buffers.end(),
                       [&](const Buffer& buffer) { return buffer.name == candidate; });
  };
  std::string unique = name;
  for (int suffix = 2; taken(unique); ++suffix) unique = name + "_" + std::to_string(suffix);
  Buffer buffer;
  buffer.name = std::move(unique);
  buffer.dtype = dtype;
  buffer.shape = shape;
  buffer.role = role;
  workload_.buffers.push_back(std::move(buffer));
  return {static_cast<BufferId>(workload_.buffers.size()) - 1, dtype, std::move(shape)};
}

BufferId WorkloadBuilder::Size(std::string name, SizeRange range) {
  if (workload_.SizeCount() < static_cast<int>(workload_.buffers.size())) {
    throw std::invalid_argument("the size " + name + " comes after tensors");
  }
  const Tensor size = AddBuffer(std::move(name), {}, DType::kInt64, BufferRole::kSize);
  workload_.buffers.back().range = range;
  return size.id();
}

void WorkloadBuilder::Bound(const Tensor& tensor, int dimension, BufferId size) {
  Buffer& buffer = workload_.buffers[tensor.id()];
  if (buffer.shape.at(dimension) != workload_.buffers[size].range.largest) {
    throw std::invalid_argument("the extent of an open dimension of " + buffer.name +
                                " is not the largest size");
  }
  buffer.bounds.resize(buffer.shape.size());
  buffer.bounds[dimension] = {size};
  const int stage = workload_.Producer(tensor.id());
  if (stage >= 0) workload_.stages[stage].iters[dimension].bound = {size};
}

Tensor WorkloadBuilder::Input(std::string name, std::vector<int64_t> shape, DType dtype) {
  return AddBuffer(std::move(name), std::move(shape), dtype, BufferRole::kInput);
}

Tensor WorkloadBuilder::Constant(std::string name, std::vector<int64_t> shape, DType dtype) {
  return AddBuffer(std::move(name), std::move(shape), dtype, BufferRole::kConstant);
}

Tensor WorkloadBuilder::AddStage(std::string name, std::vector<int64_t> shape,
                                 std::vector<Iter> iters, Reduction reduction, Expr value) {
  if (!value.defined()) throw std::invalid_argument("stage " + name + " has no value");
  for (const Iter& iter : iters) {
    if (iter.extent < 1) throw std::invalid_argument("stage " + name + " has an empty axis");
  }
  const Tensor output =
      AddBuffer(std::move(name), std::move(shape), value->dtype, BufferRole::kIntermediate);
  workload_.stages.push_back({workload_.buffers[output.id()].name, output.id(), std::move(iters),
                              std::move(value), reduction});
  return output;
}

Tensor WorkloadBuilder::Compute(std::string name, std::vector<int64_t> shape,
                                const std::function<Expr(const Exprs&)>& value,
                                std::vector<std::string> axis_names) {
  std::vector<Iter> iters = SpatialIters(shape, axis_names);
  Exprs positions;
  for (size_t i = 0; i < iters.size(); ++i) positions.push_back(IterVar(static_cast<int>(i)));
  return AddStage(std::move(name), std::move(shape), std::move(iters), Reduction::kNone,
                  value(positions));
}

Tensor WorkloadBuilder::Reduce(std::string name, std::vector<int64_t> shape,
                               std::vector<Axis> reduction_axes, Reduction reduction,
                               const std::function<Expr(const Exprs&, const Exprs&)>& value,
                               std::vector<std::string> axis_names) {
  if (reduction_axes.empty() || reduction == Reduction::kNone) {
    throw std::invalid_argument("reduction " + name + " reduces over nothing");
  }
  std::vector<Iter> iters = SpatialIters(shape, axis_names);
  Exprs spatial, reduced;
  for (size_t i = 0; i < iters.size(); ++i) spatial.push_back(IterVar(static_cast<int>(i)));
  for (Axis& axis : reduction_axes) {
    reduced.push_back(IterVar(static_cast<int>(iters.size())));
    const auto taken = [&] {
      return std::any_of(iters.begin(), iters.end(),
                         [&](const Iter& iter) { return iter.name == axis.name; });
    };
    while (taken()) axis.name = "r" + axis.name;
    iters.push_back({std::move(axis.name), axis.extent, IterKind::kReduction, {axis.size}});
  }
  Expr term = value(spatial, reduced);
  for (size_t i = 0; i < iters.size(); ++i) {
    if (!iters[i].bound.is_open()) continue;
    term = ReduceWithin(reduction, term, static_cast<int>(i), SizeOf(iters[i].bound.size));
  }
  return AddStage(std::move(name), std::move(shape), std::move(iters), reduction, term);
}

Tensor WorkloadBuilder::Call(std::string name, std::vector<int64_t> shape, Expr call) {
  std::vector<Iter> iters = SpatialIters(shape, {});
  return AddStage(std::move(name), std::move(shape), std::move(iters), Reduction::kNone,
                  std::move(call));
}

Workload WorkloadBuilder::Build(const std::vector<Tensor>& outputs) {
  Workload workload = workload_;
  for (const Tensor& output : outputs) {
    if (workload.Producer(output.id()) < 0) {
      throw std::invalid_argument("an output of " + workload.name + " is not computed");
    }
    workload.buffers[output.id()].role = BufferRole::kOutput;
  }
  for (size_t b = 0; b < workload.buffers.size(); ++b) {
    const auto id = static_cast<BufferId>(b);
    const bool read = std::any_of(workload.stages.begin(), workload.stages.end(),
                                  [&](const Stage& stage) { return Loads(stage.value, id); });
    if (workload.buffers[b].role == BufferRole::kIntermediate && !read) {
      throw std::invalid_argument(workload.buffers[b].name + " is computed but never used");
    }
  }
  return workload;
}

}  // namespace bayloom::tensor

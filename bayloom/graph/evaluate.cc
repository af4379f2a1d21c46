// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "bayloom/graph/evaluate_copy.h"
#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/scalar.h"

namespace bayloom::graph {
namespace {

/// Points of the iteration domain that are computed together.
constexpr int kLanes = 256;

/// One value per lane: floats of any type as double, integers and bools as int64.
struct Register {
  double f[kLanes];
  int64_t i[kLanes];
};

/// One operation on registers, for all lanes.
struct Step {
  tensor::ExprOp op;
  tensor::DType dtype;          ///< of the result
  tensor::DType operand_dtype;  ///< of the operands, where it matters
  int operands[3] = {-1, -1, -1};
  int iter = -1;
  double float_value = 0;
  int64_t int_value = 0;

  // kLoad
  const tensor::HostTensor* tensor = nullptr;
  bool proven = false;             ///< linear and in range over the whole domain
  tensor::LinearForm offset = {};  ///< proven: the element's place
  std::vector<int> index = {};     ///< else: registers with the indices
  int mask = -1;                   ///< register that tells which lanes are wanted, or all
};

/// An expression as straight-line code over registers. Expressions that are shared are computed
/// once. Loads under a select carry a mask with the lanes that chose their side.
class Compiler {
 public:
  Compiler(const tensor::Stage& stage, const TensorLookup& operands)
      : stage_(stage), lookup_(operands) {}

  std::vector<Step> Compile() {
    Emit(stage_.value, -1);
    return std::move(steps_);
  }

 private:
  int Append(Step step) {
    steps_.push_back(std::move(step));
    return static_cast<int>(steps_.size()) - 1;
  }

  int Emit(const tensor::Expr& e, int mask) {
    if (const auto known = emitted_.find({e.get(), mask}); known != emitted_.end()) {
      return known->second;
    }
    const int result = EmitNew(e, mask);
    emitted_[{e.get(), mask}] = result;
    return result;
  }

  int EmitNew(const tensor::Expr& e, int mask) {
    if (e->op == tensor::ExprOp::kLoad) return EmitLoad(*e, mask);
    Step step{e->op, e->dtype, e->operands.empty() ? e->dtype : e->operands[0]->dtype};
    step.iter = e->index;
    step.float_value = e->float_value;
    step.int_value = e->int_value;
    if (e->op == tensor::ExprOp::kSelect) {
      step.operands[0] = Emit(e->operands[0], mask);
      for (int side = 0; side < 2; ++side) {
        const int side_mask =
            NeedsMask(e->operands[1 + side]) ? SideMask(step.operands[0], side == 0, mask) : mask;
        step.operands[1 + side] = Emit(e->operands[1 + side], side_mask);
      }
    } else {
      for (size_t k = 0; k < e->operands.size(); ++k) {
        step.operands[k] = Emit(e->operands[k], mask);
      }
    }
    return Append(std::move(step));
  }

  /// Register with mask && (condition == wanted).
  int SideMask(int condition, bool wanted, int mask) {
    int side = condition;
    if (!wanted) {
      side = Append(
          {tensor::ExprOp::kNot, tensor::DType::kBool, tensor::DType::kBool, {condition, -1, -1}});
    }
    if (mask < 0) return side;
    return Append(
        {tensor::ExprOp::kAnd, tensor::DType::kBool, tensor::DType::kBool, {mask, side, -1}});
  }

  int EmitLoad(const tensor::ExprNode& e, int mask) {
    Step step{tensor::ExprOp::kLoad, e.dtype, e.dtype};
    step.tensor = &lookup_(e.index);
    if (const auto offset = OffsetOf(e)) {
      step.proven = true;
      step.offset = *offset;
    } else {
      for (const tensor::Expr& index : e.operands) step.index.push_back(Emit(index, mask));
      step.mask = mask;
    }
    return Append(std::move(step));
  }

  bool NeedsMask(const tensor::Expr& e) {
    bool found = false;
    tensor::Visit(e, [&](const tensor::Expr& inner) {
      found |= inner->op == tensor::ExprOp::kLoad && !OffsetOf(*inner);
    });
    return found;
  }

  std::optional<tensor::LinearForm> OffsetOf(const tensor::ExprNode& load) {
    return ProvenOffset(stage_, load, lookup_(load.index).shape);
  }

  const tensor::Stage& stage_;
  const TensorLookup& lookup_;
  std::vector<Step> steps_;
  std::map<std::pair<const tensor::ExprNode*, int>, int> emitted_;
};

template <typename T, typename Out>
void Gather(const tensor::HostTensor& tensor, const int64_t* offsets, int lanes, Out* out) {
  const T* data = reinterpret_cast<const T*>(tensor.data.data());
  for (int l = 0; l < lanes; ++l) out[l] = static_cast<Out>(data[offsets[l]]);
}

void GatherElements(const tensor::HostTensor& tensor, const int64_t* offsets, int lanes,
                    Register& out) {
  switch (tensor.dtype) {
    case tensor::DType::kFloat32:
      return Gather<float>(tensor, offsets, lanes, out.f);
    case tensor::DType::kFloat64:
      return Gather<double>(tensor, offsets, lanes, out.f);
    case tensor::DType::kInt64:
      return Gather<int64_t>(tensor, offsets, lanes, out.i);
    default:
      break;
  }
  const int size = tensor::ByteSize(tensor.dtype);
  for (int l = 0; l < lanes; ++l) {
    const std::byte* at = tensor.data.data() + offsets[l] * size;
    if (tensor::IsFloat(tensor.dtype)) {
      out.f[l] = tensor::LoadFloat(tensor.dtype, at);
    } else {
      out.i[l] = tensor::LoadInt(tensor.dtype, at);
    }
  }
}

void RoundLanes(tensor::DType dtype, int lanes, double* values) {
  if (dtype == tensor::DType::kFloat64) return;
  if (dtype == tensor::DType::kFloat32) {
    for (int l = 0; l < lanes; ++l) values[l] = static_cast<float>(values[l]);
    return;
  }
  for (int l = 0; l < lanes; ++l) values[l] = tensor::RoundTo(dtype, values[l]);
}

int64_t ApplyIntTotal(tensor::ExprOp op, tensor::DType dtype, int64_t a, int64_t b) {
  const bool divides = op == tensor::ExprOp::kDiv || op == tensor::ExprOp::kFloorDiv ||
                       op == tensor::ExprOp::kFloorMod || op == tensor::ExprOp::kMod ||
                       (op == tensor::ExprOp::kPow && a == 0 && b < 0);
  return divides && (op == tensor::ExprOp::kPow || b == 0) ? 0 : tensor::ApplyInt(op, dtype, a, b);
}

/// Runs the steps for one chunk of lanes after another.
class Machine {
 public:
  Machine(const tensor::Stage& stage, std::vector<Step> steps)
      : stage_(stage),
        steps_(std::move(steps)),
        registers_(steps_.size()),
        iters_(stage.iters.size(), std::vector<int64_t>(kLanes)),
        counters_(stage.iters.size(), 0) {}

  /// Computes the next `lanes` points of the domain, row-major; the result's register.
  const Register& Run(int lanes) {
    FillIters(lanes);
    for (size_t s = 0; s < steps_.size(); ++s) Execute(steps_[s], lanes, registers_[s]);
    return registers_.back();
  }

 private:
  void FillIters(int lanes) {
    const int count = static_cast<int>(counters_.size());
    for (int l = 0; l < lanes; ++l) {
      for (int k = 0; k < count; ++k) iters_[k][l] = counters_[k];
      for (int k = count - 1; k >= 0; --k) {
        if (++counters_[k] < stage_.iters[k].extent) break;
        counters_[k] = 0;
      }
    }
  }

  void Execute(const Step& step, int lanes, Register& out) {
    switch (step.op) {
      case tensor::ExprOp::kInt:
        std::fill_n(out.i, lanes, step.int_value);
        return;
      case tensor::ExprOp::kFloat:
        std::fill_n(out.f, lanes, step.float_value);
        return;
      case tensor::ExprOp::kIter:
        std::copy_n(iters_[step.iter].data(), lanes, out.i);
        return;
      case tensor::ExprOp::kLoad:
        return Fetch(step, lanes, out);
      case tensor::ExprOp::kSelect:
        return Choose(step, lanes, out);
      case tensor::ExprOp::kCast:
        return Convert(step, lanes, out);
      default:
        break;
    }
    if (tensor::IsFloat(step.operand_dtype)) {
      ComputeFloats(step, lanes, out);
    } else {
      ComputeInts(step, lanes, out);
    }
  }

  void Fetch(const Step& step, int lanes, Register& out) {
    int64_t offsets[kLanes];
    if (step.proven) {
      std::fill_n(offsets, lanes, step.offset.constant);
      for (size_t k = 0; k < iters_.size(); ++k) {
        const int64_t coefficient = step.offset.coefficients[k];
        if (coefficient == 0) continue;
        const int64_t* iter = iters_[k].data();
        for (int l = 0; l < lanes; ++l) offsets[l] += coefficient * iter[l];
      }
      return GatherElements(*step.tensor, offsets, lanes, out);
    }
    const std::vector<int64_t>& shape = step.tensor->shape;
    for (int l = 0; l < lanes; ++l) {
      offsets[l] = 0;
      if (step.mask >= 0 && registers_[step.mask].i[l] == 0) continue;
      for (size_t d = 0; d < shape.size(); ++d) {
        const int64_t index = registers_[step.index[d]].i[l];
        if (index < 0 || index >= shape[d]) {
          throw std::domain_error(
              fmt::format("{} reads index {} of an extent of {}", stage_.name, index, shape[d]));
        }
        offsets[l] = offsets[l] * shape[d] + index;
      }
    }
    GatherElements(*step.tensor, offsets, lanes, out);
  }

  void Choose(const Step& step, int lanes, Register& out) {
    const int64_t* condition = registers_[step.operands[0]].i;
    const Register& then = registers_[step.operands[1]];
    const Register& otherwise = registers_[step.operands[2]];
    if (tensor::IsFloat(step.dtype)) {
      for (int l = 0; l < lanes; ++l) out.f[l] = condition[l] ? then.f[l] : otherwise.f[l];
    } else {
      for (int l = 0; l < lanes; ++l) out.i[l] = condition[l] ? then.i[l] : otherwise.i[l];
    }
  }

  void Convert(const Step& step, int lanes, Register& out) {
    const Register& in = registers_[step.operands[0]];
    const bool from_float = tensor::IsFloat(step.operand_dtype);
    if (tensor::IsFloat(step.dtype)) {
      for (int l = 0; l < lanes; ++l) {
        out.f[l] = from_float ? in.f[l] : tensor::IntToFloat(step.operand_dtype, in.i[l]);
      }
      RoundLanes(step.dtype, lanes, out.f);
    } else {
      for (int l = 0; l < lanes; ++l) {
        out.i[l] = from_float ? tensor::FloatToInt(step.dtype, in.f[l])
                              : tensor::WrapTo(step.dtype, in.i[l]);
      }
    }
  }

  template <typename Function>
  void ForLanes(const Step& step, int lanes, Register& out, Function function) {
    const double* a = registers_[step.operands[0]].f;
    const double* b = step.operands[1] < 0 ? a : registers_[step.operands[1]].f;
    for (int l = 0; l < lanes; ++l) out.f[l] = function(a[l], b[l]);
  }

  void ComputeFloats(const Step& step, int lanes, Register& out) {
    if (!tensor::IsFloat(step.dtype)) {  // comparisons
      const double* a = registers_[step.operands[0]].f;
      const double* b = step.operands[1] < 0 ? a : registers_[step.operands[1]].f;
      for (int l = 0; l < lanes; ++l) out.i[l] = tensor::CompareFloat(step.op, a[l], b[l]);
      return;
    }
    switch (step.op) {  // the frequent ones without a call per lane
      case tensor::ExprOp::kAdd:
        ForLanes(step, lanes, out, [](double a, double b) { return a + b; });
        break;
      case tensor::ExprOp::kSub:
        ForLanes(step, lanes, out, [](double a, double b) { return a - b; });
        break;
      case tensor::ExprOp::kMul:
        ForLanes(step, lanes, out, [](double a, double b) { return a * b; });
        break;
      case tensor::ExprOp::kDiv:
        ForLanes(step, lanes, out, [](double a, double b) { return a / b; });
        break;
      default:
        ForLanes(step, lanes, out,
                 [&](double a, double b) { return tensor::ApplyFloat(step.op, a, b); });
    }
    RoundLanes(step.dtype, lanes, out.f);
  }

  void ComputeInts(const Step& step, int lanes, Register& out) {
    const int64_t* a = registers_[step.operands[0]].i;
    const int64_t* b = step.operands[1] < 0 ? a : registers_[step.operands[1]].i;
    const bool compares = step.op >= tensor::ExprOp::kLess && step.op <= tensor::ExprOp::kEqual;
    for (int l = 0; l < lanes; ++l) {
      out.i[l] = compares ? tensor::CompareInt(step.op, step.operand_dtype, a[l], b[l])
                          : ApplyIntTotal(step.op, step.operand_dtype, a[l], b[l]);
    }
  }

  const tensor::Stage& stage_;
  std::vector<Step> steps_;
  std::vector<Register> registers_;
  std::vector<std::vector<int64_t>> iters_;
  std::vector<int64_t> counters_;
};

int64_t DomainSize(const tensor::Stage& stage, tensor::IterKind kind) {
  int64_t size = 1;
  for (const tensor::Iter& iter : stage.iters) size *= iter.kind == kind ? iter.extent : 1;
  return size;
}

/// Combines terms into elements as they come, one element after another.
class Accumulator {
 public:
  Accumulator(const tensor::Stage& stage, tensor::HostTensor& out)
      : reduction_(stage.reduction),
        out_(out),
        terms_(DomainSize(stage, tensor::IterKind::kReduction)),
        is_float_(tensor::IsFloat(out.dtype)) {}

  void Add(const Register& values, int lanes) {
    const int size = tensor::ByteSize(out_.dtype);
    for (int l = 0; l < lanes; ++l) {
      const bool first = taken_ == 0;
      if (is_float_) {
        float_ = first ? values.f[l] : CombineFloats(float_, values.f[l]);
      } else {
        int_ = first ? values.i[l] : CombineInts(int_, values.i[l]);
      }
      if (++taken_ < terms_) continue;
      std::byte* at = out_.data.data() + element_++ * size;
      if (is_float_) {
        tensor::StoreFloat(out_.dtype, at, tensor::RoundTo(out_.dtype, float_));
      } else {
        tensor::StoreInt(out_.dtype, at, tensor::WrapTo(out_.dtype, int_));
      }
      taken_ = 0;
    }
  }

 private:
  double CombineFloats(double a, double b) const {
    switch (reduction_) {
      case tensor::Reduction::kSum:
        return a + b;
      case tensor::Reduction::kProduct:
        return a * b;
      case tensor::Reduction::kMin:
        return tensor::ApplyFloat(tensor::ExprOp::kMin, a, b);
      case tensor::Reduction::kMax:
        return tensor::ApplyFloat(tensor::ExprOp::kMax, a, b);
      case tensor::Reduction::kNone:
        break;
    }
    return b;
  }

  int64_t CombineInts(int64_t a, int64_t b) const {
    switch (reduction_) {
      case tensor::Reduction::kSum:
        return tensor::ApplyInt(tensor::ExprOp::kAdd, out_.dtype, a, b);
      case tensor::Reduction::kProduct:
        return tensor::ApplyInt(tensor::ExprOp::kMul, out_.dtype, a, b);
      case tensor::Reduction::kMin:
        return tensor::ApplyInt(tensor::ExprOp::kMin, out_.dtype, a, b);
      case tensor::Reduction::kMax:
        return tensor::ApplyInt(tensor::ExprOp::kMax, out_.dtype, a, b);
      case tensor::Reduction::kNone:
        break;
    }
    return b;
  }

  const tensor::Reduction reduction_;
  tensor::HostTensor& out_;
  const int64_t terms_;
  const bool is_float_;
  int64_t taken_ = 0;
  int64_t element_ = 0;
  double float_ = 0;
  int64_t int_ = 0;
};

}  // namespace

tensor::HostTensor EvaluateStage(const tensor::Stage& stage, const TensorLookup& operands) {
  std::vector<int64_t> shape;
  for (const tensor::Iter& iter : stage.iters) {
    if (iter.kind == tensor::IterKind::kSpatial) shape.push_back(iter.extent);
  }
  if (const auto call = tensor::AsCall(stage.value)) {
    std::vector<const tensor::HostTensor*> tensors;
    for (ValueId operand : call->operands) tensors.push_back(&operands(operand));
    return tensor::Evaluate(*call, tensors, shape);
  }
  if (auto copied = CopyStage(stage, operands)) return *std::move(copied);
  tensor::HostTensor out = tensor::HostTensor::Zeros(stage.value->dtype, shape);
  const int64_t points = DomainSize(stage, tensor::IterKind::kSpatial) *
                         DomainSize(stage, tensor::IterKind::kReduction);
  Machine machine(stage, Compiler(stage, operands).Compile());
  Accumulator accumulator(stage, out);
  for (int64_t done = 0; done < points; done += kLanes) {
    const int lanes = static_cast<int>(std::min<int64_t>(kLanes, points - done));
    accumulator.Add(machine.Run(lanes), lanes);
  }
  return out;
}

std::vector<tensor::HostTensor> EvaluateGraph(const Graph& graph,
                                              const std::vector<tensor::HostTensor>& inputs) {
  std::vector<std::shared_ptr<const tensor::HostTensor>> data(graph.values.size());
  for (size_t v = 0; v < data.size(); ++v) data[v] = graph.values[v].constant;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    data[graph.inputs[i]] = std::make_shared<const tensor::HostTensor>(inputs[i]);
  }
  const auto lookup = [&](ValueId v) -> const tensor::HostTensor& { return *data[v]; };
  for (const Node& node : graph.nodes) {
    tensor::HostTensor out =
        node.kind == NodeKind::kView ? *data[node.source] : EvaluateStage(node.stage, lookup);
    out.shape = graph.values[node.output()].shape;
    data[node.output()] = std::make_shared<const tensor::HostTensor>(std::move(out));
  }
  std::vector<tensor::HostTensor> outputs;
  for (const GraphOutput& output : graph.outputs) outputs.push_back(*data[output.value]);
  return outputs;
}

}  // namespace bayloom::graph

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "bayloom/tensor/flat_expr.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::tensor {

struct PointEvaluator::Impl {
  struct FlatStage {
    const Stage* stage;
    std::optional<FlatExpr> value;  ///< none of a call
    size_t spatial = 0;             ///< number of spatial iterators
  };

  Impl(const Workload& w, const std::vector<HostTensor>& arguments)
      : workload(w), inputs(w.buffers.size()), memo(w.buffers.size()) {
    const std::vector<BufferId> parameters = workload.Parameters();
    for (size_t p = 0; p < parameters.size(); ++p) {
      const bool is_output = workload.buffers[parameters[p]].role == BufferRole::kOutput;
      if (is_output) continue;
      if (p >= arguments.size()) throw std::invalid_argument("too few arguments");
      inputs[parameters[p]] = &arguments[p];
    }
    for (const Stage& stage : workload.stages) {
      stages.push_back({&stage, std::nullopt, workload.buffers[stage.output].shape.size()});
      stage_of[stage.output] = stages.size() - 1;
      if (stage.value->op == ExprOp::kCall) {
        calls.emplace(stage.output, EvaluateCall(stage));
        inputs[stage.output] = &calls.at(stage.output);
      } else {
        const auto iter_count = static_cast<int>(stage.iters.size());
        stages.back().value.emplace(stage.value, workload.buffers, iter_count);
      }
    }
  }

  /// All elements; what a call reads are parameters.
  HostTensor EvaluateCall(const Stage& stage) const {
    const LibraryCall call = *AsCall(stage.value);
    std::vector<const HostTensor*> operands;
    for (BufferId id : call.operands) operands.push_back(inputs[id]);
    return tensor::Evaluate(call, operands, workload.buffers[stage.output].shape);
  }

  ScalarValue Element(BufferId id, int64_t place) {
    if (const HostTensor* input = inputs[id]) {
      return LoadScalar(input->dtype, input->data.data() + place * ByteSize(input->dtype));
    }
    if (auto found = memo[id].find(place); found != memo[id].end()) return found->second;
    const ScalarValue value = Compute(stages[stage_of.at(id)], place);
    memo[id].emplace(place, value);
    return value;
  }

  ScalarValue Compute(const FlatStage& flat, int64_t place) {
    const Stage& stage = *flat.stage;
    const Buffer& output = workload.buffers[stage.output];
    std::vector<int64_t> iters(stage.iters.size());
    for (size_t d = flat.spatial; d-- > 0; place /= output.shape[d]) {
      iters[d] = place % output.shape[d];
    }
    const auto load = [this](BufferId id, int64_t at) { return Element(id, at); };
    if (stage.reduction == Reduction::kNone) return flat.value->Evaluate(iters.data(), load);

    // Floats are summed up in double precision and rounded once.
    const DType wide = IsFloat(output.dtype) ? DType::kFloat64 : output.dtype;
    ScalarValue total = ScalarOf(NeutralElement(stage.reduction, wide));
    for (;;) {
      total =
          CombineScalars(stage.reduction, wide, total, flat.value->Evaluate(iters.data(), load));
      size_t r = iters.size();
      while (r > flat.spatial && ++iters[r - 1] == stage.iters[r - 1].extent) iters[--r] = 0;
      if (r == flat.spatial) break;
    }
    if (IsFloat(output.dtype)) total.f = RoundTo(output.dtype, total.f);
    return total;
  }

  const Workload& workload;
  std::vector<const HostTensor*> inputs;  ///< by buffer; null where computed
  std::vector<FlatStage> stages;
  std::unordered_map<BufferId, size_t> stage_of;
  std::unordered_map<BufferId, HostTensor> calls;  ///< results of the library, by buffer
  std::vector<std::unordered_map<int64_t, ScalarValue>> memo;  ///< by buffer
};

PointEvaluator::PointEvaluator(const Workload& workload, const std::vector<HostTensor>& arguments)
    : impl_(std::make_unique<Impl>(workload, arguments)) {}

PointEvaluator::~PointEvaluator() = default;

double PointEvaluator::Evaluate(BufferId buffer, const std::vector<int64_t>& index) {
  const Buffer& b = impl_->workload.buffers.at(buffer);
  if (index.size() != b.shape.size()) throw std::invalid_argument("one index per dimension");
  int64_t place = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    if (index[d] < 0 || index[d] >= b.shape[d]) {
      LinearIndex::ThrowOutOfRange(b, index[d], b.shape[d]);
    }
    place = place * b.shape[d] + index[d];
  }
  const ScalarValue value = impl_->Element(buffer, place);
  return IsFloat(b.dtype) ? value.f : IntToFloat(b.dtype, value.i);
}

}  // namespace bayloom::tensor

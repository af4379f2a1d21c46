// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Loop, unrolled. While its condition is known, iterations are or are not there. Once it depends
/// on the run, the values of an iteration that does not take place are those before it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bayloom/graph/import.h"
#include "bayloom/graph/operators/control_flow.h"

namespace bayloom::graph {
namespace {

constexpr int kTripCount = 0, kCondition = 1, kFirstCarried = 2;

class LoopUnroller {
 public:
  explicit LoopUnroller(OperatorContext& context)
      : context_(context),
        is_counted_(context.HasInput(kTripCount) && !context.HasInput(kCondition)) {
    for (int i = kFirstCarried; i < context.input_count(); ++i) {
      carried_.push_back(context.InputValue(i));
    }
    if (context.HasInput(kTripCount)) trip_count_ = context.IntInput(kTripCount);
    stacks_.resize(std::max(0, context.output_count() - static_cast<int>(carried_.size())));
  }

  void Run() {
    if (context_.HasInput(kCondition)) SetCondition(context_.Input(kCondition));
    int64_t iteration = 0;
    for (; goes_on_ && iteration < trip_count_; ++iteration) {
      CheckIterations(iteration);
      Iterate(iteration);
    }
    for (size_t k = 0; k < carried_.size(); ++k) {
      context_.SetOutput(static_cast<int>(k), carried_[k]);
    }
    for (size_t k = 0; k < stacks_.size(); ++k) {
      const int output = static_cast<int>(carried_.size() + k);
      if (iteration > 0) {
        context_.SetOutput(output, StackValues(context_, stacks_[k]));
        continue;
      }
      const NamedValue part = Body(0).at(1 + output);
      context_.SetOutput(
          output,
          NamedValue{.tensor = EmptyStack(context_, TensorOf(context_, part)), .type = part.type});
    }
  }

 private:
  /// What decides about the next iteration.
  void SetCondition(const tensor::Tensor& condition) {
    CheckCondition(context_, condition);
    if (const tensor::HostTensor* known = context_.builder().ConstantOf(condition)) {
      goes_on_ = known->GetInt(0) != 0;
      return;
    }
    const tensor::Tensor now = context_.builder().View(condition, {});
    running_ = !running_ ? now
                         : Elementwise(context_, "loop.and", {*running_, now},
                                       [](const Exprs& e) { return e[0] && e[1]; });
  }

  [[noreturn]] void RefuseRunning(const std::string& reason) {
    throw RunTimeDependence("the condition is known at run time only, and " + reason,
                            context_.builder().InputsBehind(*running_));
  }

  void CheckIterations(int64_t iteration) {
    const std::string limit = fmt::format("at most {} are supported", kMaxIterations);
    if (iteration == kMaxIterations)
      context_.Refuse("more iterations than can be unrolled: " + limit);
    if (!running_) return;
    if (!stacks_.empty()) RefuseRunning("what is scanned has a shape that depends on it");
    if (trip_count_ > kMaxIterations) {
      RefuseRunning("the trip count bounds no number of iterations: " + limit);
    }
  }

  std::vector<NamedValue> Body(int64_t iteration) {
    const tensor::Tensor runs =
        running_ ? *running_ : context_.builder().Map("loop.true", {}, [](const Exprs&) {
          return tensor::BoolLiteral(true);
        });
    std::vector<NamedValue> arguments = {{.tensor = IntConstant(context_, {iteration}, {})},
                                         {.tensor = runs}};
    arguments.insert(arguments.end(), carried_.begin(), carried_.end());
    std::vector<NamedValue> results = context_.Subgraph("body", arguments);
    if (results.size() != 1 + carried_.size() + stacks_.size()) {
      context_.Refuse(fmt::format("the body has {} outputs; {} are needed", results.size(),
                                  1 + carried_.size() + stacks_.size()));
    }
    return results;
  }

  void Iterate(int64_t iteration) {
    const std::vector<NamedValue> results = Body(iteration);
    for (size_t k = 0; k < carried_.size(); ++k) Carry(carried_[k], results[1 + k]);
    for (size_t k = 0; k < stacks_.size(); ++k) {
      stacks_[k].push_back(results[1 + carried_.size() + k]);
    }
    if (!results[0].tensor) context_.Refuse("the condition is a sequence");
    if (!is_counted_) SetCondition(*results[0].tensor);
  }

  void Carry(NamedValue& value, const NamedValue& next) {
    if (!running_) {
      value = next;
      return;
    }
    if (!value.tensor || !next.tensor) RefuseRunning("a sequence is carried");
    const tensor::Tensor &before = *value.tensor, &after = *next.tensor;
    if (after.shape() != before.shape() || after.dtype() != before.dtype()) {
      RefuseRunning(fmt::format("{} becomes {}", ToString(before.dtype(), before.shape()),
                                ToString(after.dtype(), after.shape())));
    }
    value = {.tensor = Choose(context_, *running_, after, before),
             .type = value.type == next.type ? value.type : 0};
  }

  OperatorContext& context_;
  int64_t trip_count_ = std::numeric_limits<int64_t>::max();
  const bool is_counted_;  ///< there is no condition: what the body says of it is ignored
  bool goes_on_ = true;    ///< whether the next iteration is there
  std::optional<tensor::Tensor> running_;  ///< whether it takes place, if that depends on the run
  std::vector<NamedValue> carried_;
  std::vector<std::vector<NamedValue>> stacks_;  // of what is scanned
};

}  // namespace

void ImportLoop(OperatorContext& context) { LoopUnroller(context).Run(); }

}  // namespace bayloom::graph

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Loop, unrolled. While its condition is known, iterations are or are not there. Once it depends
/// on the run, the values of an iteration that does not take place are those before it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bayloom/graph/import.h"
#include "bayloom/graph/internal/operators/control_flow.h"

namespace bayloom::graph {
namespace {

constexpr int kTripCount = 0, kCondition = 1, kFirstCarried = 2;

class LoopUnroller {
 public:
  explicit LoopUnroller(OperatorContext& context) : context_(context) {
    for (int i = kFirstCarried; i < context.input_count(); ++i) {
      carried_.push_back(context.Input(i));
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
      context_.SetOutput(output, iteration == 0 ? EmptyStack(context_, Body(0).at(1 + output))
                                                : Stack(context_, std::move(stacks_[k])));
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

  void CheckIterations(int64_t iteration) {
    const std::string limit = fmt::format("at most {} are supported", kMaxIterations);
    if (iteration == kMaxIterations)
      context_.Refuse("more iterations than can be unrolled: " + limit);
    if (!running_) return;
    const auto refuse = [&](const std::string& reason) {
      throw RunTimeDependence("the condition is known at run time only, and " + reason,
                              context_.builder().InputsBehind(*running_));
    };
    if (!stacks_.empty()) refuse("what is scanned has a shape that depends on it");
    if (trip_count_ > kMaxIterations)
      refuse("the trip count bounds no number of iterations: " + limit);
  }

  std::vector<tensor::Tensor> Body(int64_t iteration) {
    std::vector<tensor::Tensor> arguments = {
        IntConstant(context_, {iteration}, {}),
        running_ ? *running_ : context_.builder().Map("loop.true", {}, [](const Exprs&) {
          return tensor::BoolLiteral(true);
        })};
    arguments.insert(arguments.end(), carried_.begin(), carried_.end());
    std::vector<tensor::Tensor> results = context_.Subgraph("body", arguments);
    if (results.size() != 1 + carried_.size() + stacks_.size()) {
      context_.Refuse(fmt::format("the body has {} outputs; {} are needed", results.size(),
                                  1 + carried_.size() + stacks_.size()));
    }
    return results;
  }

  void Iterate(int64_t iteration) {
    const std::vector<tensor::Tensor> results = Body(iteration);
    for (size_t k = 0; k < carried_.size(); ++k) Carry(carried_[k], results[1 + k]);
    for (size_t k = 0; k < stacks_.size(); ++k) {
      stacks_[k].push_back(results[1 + carried_.size() + k]);
    }
    SetCondition(results[0]);
  }

  void Carry(tensor::Tensor& value, const tensor::Tensor& next) {
    if (!running_) {
      value = next;
      return;
    }
    if (next.shape() != value.shape() || next.dtype() != value.dtype()) {
      throw RunTimeDependence(
          fmt::format("the condition is known at run time only, and {} becomes {}",
                      ToString(value.dtype(), value.shape()), ToString(next.dtype(), next.shape())),
          context_.builder().InputsBehind(*running_));
    }
    value = Choose(context_, *running_, next, value);
  }

  OperatorContext& context_;
  int64_t trip_count_ = std::numeric_limits<int64_t>::max();
  bool goes_on_ = true;                    ///< whether the next iteration is there
  std::optional<tensor::Tensor> running_;  ///< whether it takes place, if that depends on the run
  std::vector<tensor::Tensor> carried_;
  std::vector<std::vector<tensor::Tensor>> stacks_;  // of what is scanned
};

}  // namespace

void ImportLoop(OperatorContext& context) { LoopUnroller(context).Run(); }

}  // namespace bayloom::graph

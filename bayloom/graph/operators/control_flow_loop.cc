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
    stacks_.resize(std::max(0, context.output_count() - static_cast<int>(carried_.size())));
    if (context.HasInput(kTripCount)) trip_count_ = TripCount();
  }

  void Run() {
    if (context_.HasInput(kCondition)) SetCondition(context_.Input(kCondition));
    Unrolling unrolling{trip_count_};
    if (trip_count_ <= kMaxIterations) unrolling = context_.builder().UnrollingOf(trip_count_);
    std::vector<std::vector<NamedValue>> all_carried = {carried_};
    int64_t iteration = 0;
    for (; goes_on_ && iteration < std::min(unrolling.steps, limit_); ++iteration) {
      CheckIterations(iteration);
      if (iteration == limit_) break;
      Iterate(iteration);
      if (unrolling.is_open) all_carried.push_back(carried_);
    }
    if (unrolling.is_open) {
      if (iteration < unrolling.steps) {
        context_.Refuse("its trip count follows lengths, and its condition ends it before");
      }
      iteration = trip_count_;
      CarryOut(all_carried);
    }
    for (size_t k = 0; k < carried_.size(); ++k) {
      context_.SetOutput(static_cast<int>(k), carried_[k]);
    }
    if (running_ && (!stacks_.empty() || is_limited())) iteration = FindIterations(iteration);
    for (size_t k = 0; k < stacks_.size(); ++k) {
      const int output = static_cast<int>(carried_.size() + k);
      if (!stacks_[k].empty()) {
        context_.SetOutput(output, StackValues(context_, stacks_[k], iteration));
        continue;
      }
      const NamedValue part = Body(0).at(1 + output);
      context_.SetOutput(
          output,
          NamedValue{.tensor = EmptyStack(context_, TensorOf(context_, part)), .type = part.type});
    }
  }

 private:
  /// Takes what is carried after as many iterations as there are; `all`: before the first one, and
  /// after each.
  void CarryOut(const std::vector<std::vector<NamedValue>>& all) {
    for (size_t k = 0; k < carried_.size(); ++k) {
      std::vector<NamedValue> values;
      for (const std::vector<NamedValue>& carried : all) values.push_back(carried[k]);
      carried_[k] = ValueAt(context_, values, trip_count_);
    }
  }

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

  [[noreturn]] void RefuseRunning(const std::string& reason, const std::string& bound = "") {
    throw RunTimeDependence("the condition is known at run time only, and " + reason,
                            context_.builder().InputsBehind(*running_), bound);
  }

  /// The output that has as many rows as there are iterations; kNoDimension: none has.
  std::pair<int, int> ScannedRows() const {
    if (stacks_.empty()) return {0, FoundRequest::kNoDimension};
    return {static_cast<int>(carried_.size()), 0};
  }

  int64_t TripCount() {
    if (context_.ConstantInput(kTripCount)) return context_.IntInput(kTripCount);
    const tensor::Tensor given = context_.Input(kTripCount);
    if (CheckedElementCount(given.shape()) != 1)
      context_.Refuse("the trip count is not one number");
    const tensor::Tensor count = context_.builder().Map("loop.trips", {}, [&](const Exprs&) {
      return tensor::Max(given.At(Exprs(given.shape().size(), tensor::Expr(0))), tensor::Expr(0));
    });
    const auto [output, dimension] = ScannedRows();
    return context_.FindLength(count, output, dimension);
  }

  /// Whether there are as many iterations as a bound says, and a run that needs more fails.
  bool is_limited() const { return limit_ < std::numeric_limits<int64_t>::max(); }

  void CheckIterations(int64_t iteration) {
    const std::string limit = fmt::format("at most {} are supported", kMaxIterations);
    if (iteration == kMaxIterations)
      context_.Refuse("more iterations than can be unrolled: " + limit);
    if (!running_ || trip_count_ <= kMaxIterations || is_limited()) return;
    const auto [output, dimension] = ScannedRows();
    limit_ = context_.CapacityFor(output, dimension, kMaxIterations + 1);
    if (limit_ <= kMaxIterations) return;
    RefuseRunning("the trip count bounds no number of iterations: " + limit +
                      "; give a bound for '" + context_.NameOfOutput(output) + "'",
                  context_.NameOfOutput(output));
  }

  /// How many iterations take place, of those that are unrolled.
  int64_t FindIterations(int64_t unrolled) {
    tensor::Tensor count = IntConstant(context_, {unconditional_}, {});
    if (is_limited()) took_place_.push_back(*running_);  // one more than the bound is too many
    for (size_t k = 0; k < took_place_.size(); ++k) {
      const tensor::Expr number = unconditional_ + static_cast<int64_t>(k);
      const tensor::Tensor before = count, runs = took_place_[k];
      count = context_.builder().Map("loop.count", {}, [&](const Exprs&) {
        const tensor::Expr counts = runs.At({}) && number < tensor::Expr(trip_count_);
        return before.At({}) + tensor::Select(counts, tensor::Expr(1), tensor::Expr(0));
      });
    }
    const auto [output, dimension] = ScannedRows();
    const std::optional<int64_t> bound = is_limited() ? std::nullopt : std::optional(unrolled);
    return context_.FindLength(count, output, dimension, bound);
  }

  std::vector<NamedValue> Body(int64_t iteration) {
    const tensor::Tensor runs =
        running_ ? *running_ : context_.builder().Map("loop.true", {}, [](const Exprs&) {
          return tensor::BoolLiteral(true);
        });
    std::vector<NamedValue> arguments = {{.tensor = IntConstant(context_, {iteration}, {})},
                                         {.tensor = runs}};
    arguments.insert(arguments.end(), carried_.begin(), carried_.end());
    const bool is_absent = context_.builder().is_absent();
    context_.builder().SetAbsent(is_absent || iteration >= trip_count_);
    std::vector<NamedValue> results = context_.Subgraph("body", arguments);
    context_.builder().SetAbsent(is_absent);
    if (results.size() != 1 + carried_.size() + stacks_.size()) {
      context_.Refuse(fmt::format("the body has {} outputs; {} are needed", results.size(),
                                  1 + carried_.size() + stacks_.size()));
    }
    return results;
  }

  void Iterate(int64_t iteration) {
    if (running_) {
      took_place_.push_back(*running_);
    } else {
      unconditional_ = iteration + 1;
    }
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
  int64_t limit_ = std::numeric_limits<int64_t>::max();  ///< of iterations, by a bound
  int64_t unconditional_ = 0;                            ///< how many iterations always take place
  std::vector<tensor::Tensor> took_place_;               ///< whether those behind them do
  const bool is_counted_;  ///< there is no condition: what the body says of it is ignored
  bool goes_on_ = true;    ///< whether the next iteration is there
  std::optional<tensor::Tensor> running_;  ///< whether it takes place, if that depends on the run
  std::vector<NamedValue> carried_;
  std::vector<std::vector<NamedValue>> stacks_;  // of what is scanned
};

}  // namespace

void ImportLoop(OperatorContext& context) { LoopUnroller(context).Run(); }

}  // namespace bayloom::graph

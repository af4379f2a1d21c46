// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Scan, unrolled.
#include <fmt/format.h>

#include <algorithm>

#include "bayloom/graph/internal/operators/control_flow.h"

namespace bayloom::graph {
namespace {

using Tensors = std::vector<tensor::Tensor>;

/// Per scanned input or output: whether it runs from the last part to the first.
std::vector<bool> Directions(OperatorContext& context, const char* name, size_t count) {
  const std::vector<int64_t> given = context.Ints(name);
  if (!given.empty() && given.size() != count) {
    context.Refuse(fmt::format("attribute {} has {} entries, not {}", name, given.size(), count));
  }
  std::vector<bool> backward(count, false);
  for (size_t i = 0; i < given.size(); ++i) backward[i] = given[i] != 0;
  return backward;
}

/// Per scanned input or output: its axis of the iterations.
std::vector<int> Axes(OperatorContext& context, const char* name, const std::vector<int>& ranks) {
  const std::vector<int64_t> given = context.Ints(name);
  if (!given.empty() && given.size() != ranks.size()) {
    context.Refuse(
        fmt::format("attribute {} has {} entries, not {}", name, given.size(), ranks.size()));
  }
  std::vector<int> axes(ranks.size(), 0);
  for (size_t i = 0; i < ranks.size(); ++i) {
    axes[i] = context.CheckAxis(given.empty() ? 0 : given[i], ranks[i]);
  }
  return axes;
}

std::vector<int> RanksOf(const Tensors& tensors) {
  std::vector<int> ranks;
  for (const tensor::Tensor& tensor : tensors) ranks.push_back(Rank(tensor));
  return ranks;
}

int64_t IterationCount(OperatorContext& context, const Tensors& scanned) {
  const int64_t count = scanned[0].shape()[0];
  for (const tensor::Tensor& x : scanned) {
    if (x.shape()[0] != count) {
      context.Refuse(fmt::format("{} and {} parts are to be scanned", count, x.shape()[0]));
    }
  }
  if (count > kMaxIterations) {
    context.Refuse(
        fmt::format("{} iterations cannot be unrolled: at most {}", count, kMaxIterations));
  }
  return count;
}

/// Of one sequence: the last states, then what was scanned, stacked along the first axis.
/// `scanned` has the iterations along the first axis.
Tensors ScanSequence(OperatorContext& context, Tensors states, const Tensors& scanned,
                     const std::vector<bool>& input_backward,
                     const std::vector<bool>& output_backward) {
  const int64_t count = IterationCount(context, scanned);
  const size_t outputs = output_backward.size();
  std::vector<Tensors> stacks(outputs);
  const auto body = [&](int64_t iteration) {
    Tensors arguments = states;
    for (size_t i = 0; i < scanned.size(); ++i) {
      const int64_t at = input_backward[i] ? count - 1 - iteration : iteration;
      arguments.push_back(PartOf(context, scanned[i], at));
    }
    Tensors results = context.TensorSubgraph("body", arguments);
    if (results.size() != states.size() + outputs) {
      context.Refuse(fmt::format("the body has {} outputs; {} are needed", results.size(),
                                 states.size() + outputs));
    }
    return results;
  };
  if (count == 0) context.Refuse("there is nothing to scan");
  for (int64_t iteration = 0; iteration < count; ++iteration) {
    const Tensors results = body(iteration);
    std::copy_n(results.begin(), states.size(), states.begin());
    for (size_t k = 0; k < outputs; ++k) stacks[k].push_back(results[states.size() + k]);
  }
  for (size_t k = 0; k < outputs; ++k) {
    if (output_backward[k]) std::reverse(stacks[k].begin(), stacks[k].end());
    states.push_back(Stack(context, std::move(stacks[k])));
  }
  return states;
}

/// Divides the inputs from number `first` on into states and what is scanned.
std::pair<Tensors, Tensors> StatesAndScanned(OperatorContext& context, int first) {
  const int64_t scanned_count = context.Int("num_scan_inputs");
  const int64_t state_count = context.input_count() - first - scanned_count;
  if (scanned_count < 1 || state_count < 0 || state_count > context.output_count()) {
    context.Refuse("attribute num_scan_inputs does not fit the inputs and outputs");
  }
  std::pair<Tensors, Tensors> result;
  for (int i = first; i < context.input_count(); ++i) {
    (i - first < state_count ? result.first : result.second).push_back(context.Input(i));
  }
  return result;
}

void SetOutputs(OperatorContext& context, const Tensors& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    context.SetOutput(static_cast<int>(i), outputs[i]);
  }
}

void Scan9(OperatorContext& context) {
  auto [states, scanned] = StatesAndScanned(context, 0);
  const size_t state_count = states.size();
  const std::vector<int> input_axes = Axes(context, "scan_input_axes", RanksOf(scanned));
  for (size_t i = 0; i < scanned.size(); ++i) {
    scanned[i] = MoveAxis(context, scanned[i], input_axes[i], 0);
  }
  const size_t stacked = context.output_count() - state_count;
  Tensors outputs = ScanSequence(context, states, scanned,
                                 Directions(context, "scan_input_directions", scanned.size()),
                                 Directions(context, "scan_output_directions", stacked));
  const Tensors stacks(outputs.begin() + static_cast<int64_t>(state_count), outputs.end());
  const std::vector<int> output_axes = Axes(context, "scan_output_axes", RanksOf(stacks));
  for (size_t k = 0; k < stacked; ++k) {
    outputs[state_count + k] = MoveAxis(context, stacks[k], 0, output_axes[k]);
  }
  SetOutputs(context, outputs);
}

/// The first version: everything has a first axis of sequences, which may differ in length.
void Scan8(OperatorContext& context) {
  const auto [states, scanned] = StatesAndScanned(context, 1);
  Tensors batched = states;
  batched.insert(batched.end(), scanned.begin(), scanned.end());
  for (const tensor::Tensor& x : batched) {
    if (x.shape().empty() || x.shape()[0] != scanned[0].shape()[0]) {
      context.Refuse("the inputs differ in their number of sequences");
    }
  }
  for (const tensor::Tensor& x : scanned) {
    if (Rank(x) < 2) context.Refuse("what is scanned has to have 2 dimensions");
  }
  if (context.HasInput(0)) {
    for (int64_t length : context.IntsInput(0)) {
      if (length != scanned[0].shape()[1]) {
        context.Refuse("sequences of different lengths are not supported");
      }
    }
  }
  const std::vector<bool> backward = Directions(context, "directions", scanned.size());
  const std::vector<bool> forward(context.output_count() - states.size(), false);
  std::vector<Tensors> by_output(context.output_count());
  for (int64_t b = 0; b < scanned[0].shape()[0]; ++b) {
    Tensors own_states, own_scanned;
    for (const tensor::Tensor& x : states) own_states.push_back(PartOf(context, x, b));
    for (const tensor::Tensor& x : scanned) own_scanned.push_back(PartOf(context, x, b));
    const Tensors outputs = ScanSequence(context, own_states, own_scanned, backward, forward);
    for (size_t k = 0; k < outputs.size(); ++k) by_output[k].push_back(outputs[k]);
  }
  if (scanned[0].shape()[0] == 0) context.Refuse("there are no sequences");
  for (size_t k = 0; k < by_output.size(); ++k) {
    context.SetOutput(static_cast<int>(k), Stack(context, std::move(by_output[k])));
  }
}

}  // namespace

void ImportScan(OperatorContext& context) { context.opset() < 9 ? Scan8(context) : Scan9(context); }

}  // namespace bayloom::graph

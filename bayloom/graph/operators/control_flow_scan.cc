// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Scan, unrolled.
#include <fmt/format.h>

#include <algorithm>

#include "bayloom/graph/operators/control_flow.h"

namespace bayloom::graph {
namespace {

using Values = std::vector<NamedValue>;  // tensors, with their types in the model

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

std::vector<int> RanksOf(const Values& values) {
  std::vector<int> ranks;
  for (const NamedValue& value : values) ranks.push_back(Rank(*value.tensor));
  return ranks;
}

NamedValue PartOf(OperatorContext& context, const NamedValue& x, int64_t at) {
  return {.tensor = PartOf(context, *x.tensor, at), .type = x.type};
}

NamedValue MoveAxis(OperatorContext& context, const NamedValue& x, int from, int to) {
  return {.tensor = MoveAxis(context, *x.tensor, from, to), .type = x.type};
}

int64_t IterationCount(OperatorContext& context, const Values& scanned) {
  const int64_t count = scanned[0].tensor->shape()[0];
  for (const NamedValue& x : scanned) {
    if (x.tensor->shape()[0] != count) {
      context.Refuse(fmt::format("{} and {} parts are to be scanned", count, x.tensor->shape()[0]));
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
Values ScanSequence(OperatorContext& context, Values states, Values scanned,
                    const std::vector<bool>& input_backward,
                    const std::vector<bool>& output_backward) {
  const int64_t count = IterationCount(context, scanned);
  const Unrolling unrolling = context.builder().UnrollingOf(count);
  const size_t outputs = output_backward.size();
  // Of states those at the beginning, too.
  std::vector<Values> stacks(outputs), all_states(states.size());
  const auto note_states = [&] {
    for (size_t k = 0; k < states.size(); ++k) all_states[k].push_back(states[k]);
  };
  const auto body = [&](int64_t iteration) {
    Values arguments = states;
    for (size_t i = 0; i < scanned.size(); ++i) {
      const bool from_end = input_backward[i] && !unrolling.is_open;
      arguments.push_back(
          PartOf(context, scanned[i], from_end ? count - 1 - iteration : iteration));
    }
    Values results = context.Subgraph("body", arguments);
    if (results.size() != states.size() + outputs) {
      context.Refuse(fmt::format("the body has {} outputs; {} are needed", results.size(),
                                 states.size() + outputs));
    }
    for (const NamedValue& result : results) TensorOf(context, result);
    return results;
  };
  if (count == 0) context.Refuse("there is nothing to scan");
  for (size_t i = 0; unrolling.is_open && i < scanned.size(); ++i) {
    if (input_backward[i]) scanned[i] = ReverseParts(context, scanned[i]);
  }
  note_states();
  for (int64_t iteration = 0; iteration < unrolling.steps; ++iteration) {
    const Values results = body(iteration);
    std::copy_n(results.begin(), states.size(), states.begin());
    note_states();
    for (size_t k = 0; k < outputs; ++k) stacks[k].push_back(results[states.size() + k]);
  }
  for (size_t k = 0; unrolling.is_open && k < states.size(); ++k) {
    states[k] = ValueAt(context, all_states[k], count);
  }
  for (size_t k = 0; k < outputs; ++k) {
    const bool reverse_parts = output_backward[k] && !unrolling.is_open;
    if (reverse_parts) std::reverse(stacks[k].begin(), stacks[k].end());
    const NamedValue stack = StackValues(context, stacks[k], count);
    states.push_back(output_backward[k] && !reverse_parts ? ReverseParts(context, stack) : stack);
  }
  return states;
}

/// Divides the inputs from number `first` on into states and what is scanned.
std::pair<Values, Values> StatesAndScanned(OperatorContext& context, int first) {
  const int64_t scanned_count = context.Int("num_scan_inputs");
  const int64_t state_count = context.input_count() - first - scanned_count;
  if (scanned_count < 1 || state_count < 0 || state_count > context.output_count()) {
    context.Refuse("attribute num_scan_inputs does not fit the inputs and outputs");
  }
  std::pair<Values, Values> result;
  for (int i = first; i < context.input_count(); ++i) {
    TensorOf(context, context.InputValue(i));
    (i - first < state_count ? result.first : result.second).push_back(context.InputValue(i));
  }
  return result;
}

void SetOutputs(OperatorContext& context, const Values& outputs) {
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
  Values outputs = ScanSequence(context, states, scanned,
                                Directions(context, "scan_input_directions", scanned.size()),
                                Directions(context, "scan_output_directions", stacked));
  const Values stacks(outputs.begin() + static_cast<int64_t>(state_count), outputs.end());
  const std::vector<int> output_axes = Axes(context, "scan_output_axes", RanksOf(stacks));
  for (size_t k = 0; k < stacked; ++k) {
    outputs[state_count + k] = MoveAxis(context, stacks[k], 0, output_axes[k]);
  }
  SetOutputs(context, outputs);
}

/// The first version: everything has a first axis of sequences, which may differ in length.
void Scan8(OperatorContext& context) {
  const auto [states, scanned] = StatesAndScanned(context, 1);
  Values batched = states;
  batched.insert(batched.end(), scanned.begin(), scanned.end());
  const std::vector<int64_t>& shape = scanned[0].tensor->shape();
  for (const NamedValue& x : batched) {
    if (Rank(*x.tensor) < 1 || shape.empty() || x.tensor->shape()[0] != shape[0]) {
      context.Refuse("the inputs differ in their number of sequences");
    }
  }
  for (const NamedValue& x : scanned) {
    if (Rank(*x.tensor) < 2) context.Refuse("what is scanned has to have 2 dimensions");
  }
  if (context.HasInput(0)) {
    for (int64_t length : context.IntsInput(0)) {
      if (length != shape[1]) {
        context.Refuse("sequences of different lengths are not supported");
      }
    }
  }
  const std::vector<bool> backward = Directions(context, "directions", scanned.size());
  const std::vector<bool> forward(context.output_count() - states.size(), false);
  std::vector<Values> by_output(context.output_count());
  for (int64_t b = 0; b < shape[0]; ++b) {
    Values own_states, own_scanned;
    for (const NamedValue& x : states) own_states.push_back(PartOf(context, x, b));
    for (const NamedValue& x : scanned) own_scanned.push_back(PartOf(context, x, b));
    const Values outputs = ScanSequence(context, own_states, own_scanned, backward, forward);
    for (size_t k = 0; k < outputs.size(); ++k) by_output[k].push_back(outputs[k]);
  }
  if (shape[0] == 0) context.Refuse("there are no sequences");
  for (size_t k = 0; k < by_output.size(); ++k) {
    context.SetOutput(static_cast<int>(k), StackValues(context, by_output[k], shape[0]));
  }
}

}  // namespace

void ImportScan(OperatorContext& context) { context.opset() < 9 ? Scan8(context) : Scan9(context); }

}  // namespace bayloom::graph

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/network_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

#include "bayloom/base/hash.h"
#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/runtime/bayloom_open.h"
#include "bayloom/graph/decoder.h"
#include "bayloom/graph/tasks/call_conditions.h"
#include "bayloom/graph/tasks/network_memory.h"
#include "bayloom/graph/tasks/rounds.h"
#include "bayloom/tensor/interpreter.h"

namespace bayloom::graph {
namespace {

/// Of the form in which a program reads a constant.
uint64_t HashOfForm(const tensor::Buffer& buffer) {
  base::Hasher hasher;
  for (const tensor::LayoutAxis& axis : buffer.layout) {
    hasher.Add(axis.dimension).Add(axis.stride).Add(axis.extent);
  }
  if (buffer.transform) hasher.Add(buffer.transform->Hash());
  return hasher.Digest();
}

class Planner {
 public:
  Planner(const TaskGraph& network, const std::vector<const tensor::Program*>& programs,
          ConstantSink* sink = nullptr)
      : network_(network), graph_(network.graph), programs_(programs), sink_(sink) {}

  /// `further`: by task, programs besides.
  NetworkPlan Plan(const target::Target& target, Branches branches,
                   const std::vector<std::vector<const tensor::Program*>>& further = {},
                   std::span<const SmallProgram> small = {}) {
    plan_.rounds = RoundsOn(target, branches);
    plan_.symbols = graph_.symbols;
    PlaceStates();
    PlaceCallersBuffers();
    PlaceIntermediates();
    for (const ValueId input : open_inputs_) {
      const auto at = std::ranges::find(graph_.inputs, input) - graph_.inputs.begin();
      plan_.open_inputs.push_back(OpenTensorOf(static_cast<int>(at), input, PlaceOf(input)));
    }
    const auto conditions = ConditionsOfCalls(network_);
    const auto is_there = [](const auto& condition) { return condition.has_value(); };
    const bool has_small = !small.empty() || std::ranges::any_of(conditions, is_there);
    for (size_t c = 0; c < network_.calls.size(); ++c) {
      const TaskCall& call = network_.calls[c];
      plan_.calls.push_back(PlanCall(call, *programs_[call.task]));
      if (has_small) plan_.small_calls.push_back(PlanSmallCalls(call, small, conditions[c]));
      if (further.empty()) continue;
      std::vector<PlannedCall>& others = plan_.alternatives.emplace_back();
      for (const tensor::Program* program : further[call.task]) {
        others.push_back(PlanCall(call, *program));
      }
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) PlanOutput(static_cast<int>(i));
    for (const FoundLength& found : graph_.found) PlanFound(found);
    std::ranges::stable_sort(plan_.found, {}, &PlannedFound::rounds);
    return std::move(plan_);
  }

 private:
  Rounds RoundsOn(const target::Target& target, Branches branches) const {
    const bool has_threads = target.kind() != target::TargetKind::kNvidiaGpu && target.cores > 1;
    if (!has_threads || branches == Branches::kInTurn) return OneByOne(network_);
    return SideBySide(network_, programs_, target.l2_bytes * target.cores);
  }

  int64_t BytesOf(ValueId value) const {
    return graph_.values[value].ElementCount() * tensor::ByteSize(graph_.values[value].dtype);
  }

  void PlaceStates() {
    for (const State& state : graph_.states) {
      const int64_t bytes = BytesOf(state.memory);
      const std::vector<int64_t>& shape = graph_.values[state.memory].shape;
      const int64_t outer = std::accumulate(shape.begin(), shape.begin() + state.axis, int64_t{1},
                                            std::multiplies<>());
      const int64_t room = shape[static_cast<size_t>(state.axis)];
      plan_.states.push_back({plan_.state_bytes, outer, room, bytes / outer / room});
      placed_[state.memory] = {Storage::Kind::kState, plan_.state_bytes};
      plan_.state_bytes += target::AlignUp(bytes);
    }
    PlaceHeld();
  }

  /// What is the same in all steps of a decoder stays where the network reads it.
  void PlaceHeld() {
    const Result<Decoder> decoder = AsDecoder(graph_);
    for (size_t i = 0; decoder && i < graph_.inputs.size(); ++i) {
      const ValueId input = graph_.inputs[i];
      if (decoder->inputs[i] != DecoderInput::kHeld || !IsOpen(graph_.values[input])) continue;
      placed_[input] = {Storage::Kind::kState, plan_.state_bytes};
      plan_.state_bytes += target::AlignUp(BytesOf(input));
    }
  }

  void PlaceCallersBuffers() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      plan_.input_bytes.push_back(BytesOf(graph_.inputs[i]));
      if (IsOpen(graph_.values[graph_.inputs[i]])) {
        open_inputs_.push_back(graph_.inputs[i]);
        continue;
      }
      placed_[graph_.inputs[i]] = {Storage::Kind::kInput, static_cast<int64_t>(i)};
    }
    std::vector<bool> computed(graph_.values.size());
    for (const TaskCall& call : network_.calls) {
      for (ValueId result : ResultsOf(call)) computed[network_.storage[result].whole] = true;
    }
    // What is put together from slices is put together in the arena.
    for (const Node& node : graph_.nodes) {
      if (node.kind == NodeKind::kJoin) computed[node.output()] = false;
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ValueId value = graph_.outputs[i].value;
      const ValueId source = network_.storage[value].whole;
      plan_.output_bytes.push_back(BytesOf(value));
      if (IsOpen(graph_.values[value])) continue;
      const bool is_whole = BytesOf(value) == BytesOf(source);
      if (computed[source] && is_whole && !placed_.contains(source)) {
        placed_[source] = {Storage::Kind::kOutput, static_cast<int64_t>(i)};
      }
    }
  }

  OpenTensor OpenTensorOf(int position, ValueId id, const Storage& network) const {
    const Value& value = graph_.values[id];
    if (std::ssize(value.shape) > BAYLOOM_MAX_RANK) {
      throw InputError(fmt::format("'{}' has open dimensions and more than {} in all", value.name,
                                   static_cast<int>(BAYLOOM_MAX_RANK)));
    }
    OpenTensor open{position, network, MemoryShapeOf(id), {}, tensor::ByteSize(value.dtype)};
    for (size_t d = 0; d < value.shape.size(); ++d) {
      const ValueId bound = value.BoundOf(d);
      open.lengths.push_back(bound < 0 ? Length(value.shape[d]) : *graph_.values[bound].size);
    }
    return open;
  }

  /// Of an input or output.
  const std::vector<int64_t>& MemoryShapeOf(ValueId id) const {
    const auto state = std::ranges::find_if(
        graph_.states, [&](const State& s) { return s.past == id || s.present == id; });
    return graph_.values[state == graph_.states.end() ? id : state->memory].shape;
  }

  std::vector<ValueId> ResultsOf(const TaskCall& call) const {
    const tensor::Workload& workload = network_.tasks[call.task].workload;
    const std::vector<tensor::BufferId> parameters = workload.Parameters();
    std::vector<ValueId> results;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (workload.buffers[parameters[i]].role == tensor::BufferRole::kOutput) {
        results.push_back(call.parameters[i]);
      }
    }
    return results;
  }

  void PlaceIntermediates() {
    std::map<ValueId, MemoryRequest> live;
    // What one round uses lives at the same time.
    const int end = static_cast<int>(plan_.rounds.size());
    for (int step = 0; step < end; ++step) {
      for (int call : plan_.rounds[step]) ExtendLives(network_.calls[call], step, live);
    }
    // What is copied to an output is copied after the last step.
    for (const ValueId input : open_inputs_) {
      if (placed_.contains(network_.storage[input].whole)) continue;
      live.try_emplace(input, MemoryRequest{BytesOf(input), 0, 0});
    }
    for (const GraphOutput& output : graph_.outputs) {
      const auto it = live.find(network_.storage[output.value].whole);
      if (it != live.end()) it->second.last_step = end;
    }
    // Inputs are there from the start, sizes all the time.
    for (auto& [value, request] : live) {
      if (std::ranges::count(open_inputs_, value) > 0) request.first_step = 0;
      if (graph_.values[value].size) request = {request.bytes, 0, end};
    }
    std::vector<MemoryRequest> requests;
    for (const auto& [value, request] : live) requests.push_back(request);
    const ArenaPlan memory = PlanMemory(requests);
    plan_.arena_bytes = memory.arena_bytes;
    size_t i = 0;
    for (const auto& [value, request] : live) {
      placed_[value] = {Storage::Kind::kArena, memory.offsets[i++]};
      if (const auto& size = graph_.values[value].size) {
        plan_.sizes.push_back({*size, placed_[value].position});
      }
    }
  }

  void ExtendLives(const TaskCall& call, int step, std::map<ValueId, MemoryRequest>& live) const {
    for (ValueId argument : call.parameters) {
      const ValueId source = network_.storage[argument].whole;
      if (placed_.contains(source) || graph_.values[source].constant) continue;
      auto [it, is_new] = live.try_emplace(source, MemoryRequest{BytesOf(source), step, step});
      it->second.last_step = step;
    }
  }

  PlannedCall PlanCall(const TaskCall& call, const tensor::Program& program) {
    const std::vector<tensor::BufferId> parameters = program.Parameters();
    PlannedCall planned{call.task, {}};
    for (size_t i = 0; i < parameters.size(); ++i) {
      const ValueId source = network_.storage[call.parameters[i]].whole;
      if (graph_.values[source].constant) {
        planned.arguments.push_back(PlaceConstant(source, program.buffers[parameters[i]]));
        continue;
      }
      planned.arguments.push_back(PlaceOf(call.parameters[i]));
    }
    return planned;
  }

  std::vector<SmallCall> PlanSmallCalls(const TaskCall& call, std::span<const SmallProgram> small,
                                        const std::optional<Length>& condition) {
    std::vector<SmallCall> calls;
    if (condition) calls.push_back({{SmallCall::kNothing, {}}, *condition, 0});
    for (size_t i = 0; i < small.size(); ++i) {
      if (small[i].task != call.task) continue;
      SmallCall planned{PlanCall(call, *small[i].program),
                        *graph_.values[call.parameters[static_cast<size_t>(small[i].size)]].size,
                        small[i].up_to};
      planned.call.task = static_cast<int>(network_.tasks.size() + i);
      calls.push_back(std::move(planned));
    }
    return calls;
  }

  /// Of a value that is no constant.
  Storage PlaceOf(ValueId value) const {
    const SlicePlace& place = network_.storage[value];
    Storage storage = placed_.at(place.whole);
    const int64_t element_bytes = tensor::ByteSize(graph_.values[place.whole].dtype);
    const bool is_callers =
        storage.kind == Storage::Kind::kInput || storage.kind == Storage::Kind::kOutput;
    (is_callers ? storage.offset : storage.position) += place.first * element_bytes;
    storage.rows = place.rows;
    storage.row_bytes = place.row_elements * element_bytes;
    return storage;
  }

  Storage PlaceConstant(ValueId value, const tensor::Buffer& buffer) {
    const auto key = std::make_pair(value, HashOfForm(buffer));
    const auto it = constants_.find(key);
    if (it != constants_.end()) return it->second;
    const std::vector<std::byte>& data = graph_.values[value].constant->data;
    const bool as_it_is = buffer.layout.empty() && !buffer.transform;
    const Storage storage =
        as_it_is ? AppendConstant(data) : AppendConstant(tensor::PackLayout(buffer, data.data()));
    constants_[key] = storage;
    return storage;
  }

  Storage AppendConstant(const std::vector<std::byte>& bytes) {
    if (sink_ != nullptr) return {Storage::Kind::kConstant, sink_->Add(bytes)};
    const int64_t position = static_cast<int64_t>(plan_.constants.size());
    plan_.constants.insert(plan_.constants.end(), bytes.begin(), bytes.end());
    plan_.constants.resize(target::AlignUp(static_cast<int64_t>(plan_.constants.size())));
    return {Storage::Kind::kConstant, position};
  }

  void PlanOutput(int output) {
    const ValueId value = graph_.outputs[output].value;
    const auto& constant = graph_.values[network_.storage[value].whole].constant;
    const Storage from = constant ? AppendConstant(constant->data) : PlaceOf(value);
    if (from == Storage{Storage::Kind::kOutput, output}) return;
    if (IsOpen(graph_.values[value])) {
      plan_.open_outputs.push_back(OpenTensorOf(output, value, from));
      return;
    }
    plan_.copies.push_back({from, output, plan_.output_bytes[output]});
  }

  void PlanFound(const FoundLength& found) {
    const ValueId source = network_.storage[found.count].whole;
    const auto& constant = graph_.values[source].constant;
    int rounds = 0;
    for (size_t round = 0; round < plan_.rounds.size(); ++round) {
      for (int call : plan_.rounds[round]) {
        const std::vector<ValueId> results = ResultsOf(network_.calls[call]);
        const auto is_source = [&](ValueId v) { return network_.storage[v].whole == source; };
        if (std::ranges::any_of(results, is_source)) rounds = static_cast<int>(round) + 1;
      }
    }
    plan_.found.push_back({found.name, rounds,
                           constant ? AppendConstant(constant->data) : PlaceOf(found.count),
                           found.symbol, found.least, found.most});
  }

  const TaskGraph& network_;
  const Graph& graph_;
  const std::vector<const tensor::Program*>& programs_;
  ConstantSink* sink_;
  NetworkPlan plan_;
  std::map<ValueId, Storage> placed_;
  std::vector<ValueId> open_inputs_;
  std::map<std::pair<ValueId, uint64_t>, Storage> constants_;
};

}  // namespace

std::pair<int, int> PlaceOfSymbol(const Graph& graph, int symbol) {
  if (graph.symbols[symbol].is_found) return {-1, -1};
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Value& input = graph.values[graph.inputs[i]];
    for (size_t d = 0; d < input.shape.size(); ++d) {
      const ValueId bound = input.BoundOf(d);
      if (bound < 0 || graph.values[bound].size->AsSymbol() != symbol) continue;
      return {static_cast<int>(i), static_cast<int>(d)};
    }
  }
  throw InputError(
      fmt::format("no input has the open dimension '{}' by itself", graph.symbols[symbol].name));
}

std::optional<Branches> ParseBranches(std::string_view name) {
  if (name == "in-turn") return Branches::kInTurn;
  if (name == "side-by-side") return Branches::kSideBySide;
  return std::nullopt;
}

std::vector<bool> NetworkPlan::TasksSideBySide(size_t count) const {
  std::vector<bool> tasks(count);
  for (const std::vector<int>& round : rounds) {
    for (int call : round) {
      if (round.size() > 1) tasks[calls[call].task] = true;
    }
  }
  return tasks;
}

NetworkPlan PlanNetwork(const TaskGraph& network,
                        const std::vector<const tensor::Program*>& programs,
                        const target::Target& target, Branches branches, ConstantSink* sink,
                        std::span<const SmallProgram> small) {
  return Planner(network, programs, sink).Plan(target, branches, {}, small);
}

NetworkPlan PlanWithAlternatives(const TaskGraph& network,
                                 const std::vector<std::vector<const tensor::Program*>>& programs,
                                 const target::Target& target) {
  std::vector<const tensor::Program*> first;
  std::vector<std::vector<const tensor::Program*>> further;
  for (const std::vector<const tensor::Program*>& of_task : programs) {
    first.push_back(of_task.front());
    further.emplace_back(of_task.begin() + 1, of_task.end());
  }
  return Planner(network, first).Plan(target, Branches::kInTurn, further);
}

}  // namespace bayloom::graph

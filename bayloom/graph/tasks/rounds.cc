// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/tasks/rounds.h"

#include <algorithm>
#include <set>

#include "bayloom/codegen/kernel_steps.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"

namespace bayloom::graph {
namespace {

/// How many calls that wait a call may be moved past.
constexpr size_t kMaxPassed = 8;

/// What a call reads and writes: values that have memory of their own.
struct Accesses {
  std::set<ValueId> reads, writes;
};

bool Meet(const std::set<ValueId>& a, const std::set<ValueId>& b) {
  return std::ranges::any_of(a, [&](ValueId value) { return b.contains(value); });
}

class RoundMaker {
 public:
  RoundMaker(const TaskGraph& network, const std::vector<const tensor::Program*>& programs,
             int64_t near_bytes)
      : network_(network), near_bytes_(near_bytes) {
    for (const tensor::Program* program : programs) {
      has_steps_.push_back(codegen::StepsOf(*program).has_value());
    }
    for (const TaskCall& call : network.calls) accesses_.push_back(AccessesOf(call));
  }

  Rounds Make() const {
    Rounds rounds;
    std::vector<int> waiting;
    for (size_t c = 0; c < network_.calls.size(); ++c) waiting.push_back(static_cast<int>(c));
    while (!waiting.empty()) {
      rounds.push_back(NextRound(waiting));
      std::erase_if(waiting, [&](int call) { return std::ranges::count(rounds.back(), call) > 0; });
    }
    return rounds;
  }

 private:
  Accesses AccessesOf(const TaskCall& call) const {
    const tensor::Workload& workload = network_.tasks[call.task].workload;
    const std::vector<tensor::BufferId> parameters = workload.Parameters();
    Accesses accesses;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const ValueId whole = network_.storage[call.parameters[i]].whole;
      const bool is_result = workload.buffers[parameters[i]].role == tensor::BufferRole::kOutput;
      (is_result ? accesses.writes : accesses.reads).insert(whole);
    }
    for (int node : call.nodes) {
      for (ValueId count : CountsBefore(network_.graph, network_.graph.nodes[node])) {
        accesses.reads.insert(network_.storage[count].whole);
      }
    }
    return accesses;
  }

  /// Two calls write one value only where it is put together from slices: those do not overlap.
  bool MayChangePlaces(int a, int b) const {
    return !Meet(accesses_[a].writes, accesses_[b].reads) &&
           !Meet(accesses_[a].reads, accesses_[b].writes);
  }

  std::vector<int> NextRound(const std::vector<int>& waiting) const {
    std::vector<int> round = {waiting.front()};
    if (!HasSteps(waiting.front())) return round;
    for (size_t i = 1; i < waiting.size() && round.size() < BAYLOOM_MAX_LOOPS; ++i) {
      const size_t passed = i - round.size();
      if (passed > kMaxPassed) break;
      const bool is_free =
          std::all_of(waiting.begin(), waiting.begin() + static_cast<int64_t>(i),
                      [&](int other) { return MayChangePlaces(waiting[i], other); });
      if (!is_free || !HasSteps(waiting[i])) continue;
      round.push_back(waiting[i]);
      if (passed > 0 && BytesOf(round) > near_bytes_) round.pop_back();
    }
    return round;
  }

  /// Of all that the calls read and write.
  int64_t BytesOf(const std::vector<int>& round) const {
    std::set<ValueId> values;
    for (int call : round) {
      values.insert(accesses_[call].reads.begin(), accesses_[call].reads.end());
      values.insert(accesses_[call].writes.begin(), accesses_[call].writes.end());
    }
    int64_t bytes = 0;
    for (ValueId id : values) {
      const Value& value = network_.graph.values[id];
      bytes += value.ElementCount() * tensor::ByteSize(value.dtype);
    }
    return bytes;
  }

  bool HasSteps(int call) const { return has_steps_[network_.calls[call].task]; }

  const TaskGraph& network_;
  const int64_t near_bytes_;
  std::vector<bool> has_steps_;     // by task
  std::vector<Accesses> accesses_;  // by call
};

}  // namespace

Rounds OneByOne(const TaskGraph& network) {
  Rounds rounds;
  for (size_t c = 0; c < network.calls.size(); ++c) rounds.push_back({static_cast<int>(c)});
  return rounds;
}

Rounds SideBySide(const TaskGraph& network, const std::vector<const tensor::Program*>& programs,
                  int64_t near_bytes) {
  return RoundMaker(network, programs, near_bytes).Make();
}

}  // namespace bayloom::graph

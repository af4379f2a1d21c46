// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bayloom/graph/tasks.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"

namespace bayloom::graph {

/// Where a kernel's argument lies when the network runs.
struct Storage {
  enum class Kind : uint8_t {
    kInput,     ///< the caller's input number `position`
    kOutput,    ///< the caller's output number `position`
    kArena,     ///< at byte `position` of the arena
    kConstant,  ///< at byte `position` of the constants
    kState,     ///< at byte `position` of the memory of states, or so many rows behind that
  };
  Kind kind = Kind::kArena;
  int64_t position = 0;
  int64_t offset = 0;  ///< kInput and kOutput: bytes from its beginning
  Length rows = 0;     ///< kState: of `row_bytes` each
  int64_t row_bytes = 0;
  bool operator==(const Storage&) const = default;
};

struct PlannedCall {
  int task;
  std::vector<Storage> arguments;
};

/// A program of a task besides, for calls in which one of its sizes is small.
struct SmallProgram {
  int task;
  int size;       ///< of the workload's sizes
  int64_t up_to;  ///< the largest value that it is used for
  const tensor::Program* program;
};

/// What takes the place of a call where a size is small: a call of such a program, or nothing.
struct SmallCall {
  static constexpr int kNothing = -1;
  /// Its `task` is the number of tasks and the program's position behind these, or kNothing: there,
  /// no one reads what the call computes.
  PlannedCall call;
  Length size;
  int64_t up_to;
  bool IsNothing() const { return call.task == kNothing; }
};

/// How calls that do not depend on each other are run.
enum class Branches : uint8_t {
  kInTurn,      ///< one after the other, each by all threads
  kSideBySide,  ///< by the threads in common, none of which waits for others between two calls
};
/// The variant of that name ("in-turn", "side-by-side").
std::optional<Branches> ParseBranches(std::string_view name);

/// Bytes to copy after the last call: outputs that alias other memory (an input passed
/// through, a constant, a value that is two outputs).
struct PlannedCopy {
  Storage from;
  int output;
  int64_t bytes;
};

/// A size of the graph and where in the arena it is (an int64): written before the first call.
struct PlannedSize {
  Length length;
  int64_t position;
};

/// A length that the network finds (Graph::found): after `rounds` of them it is an int64 at that
/// place. Sizes that follow from it are written then.
struct PlannedFound {
  std::string name;
  int rounds;
  Storage count;
  int symbol;  ///< this and the bounds as FoundLength
  int64_t least, most;
};

/// An input or output with open dimensions. The caller's elements lie one after the other; in the
/// network they lie as in the largest tensor (codegen/runtime/bayloom_open.h). Inputs are spread
/// before the first call, outputs gathered after the last; not those that the caller leaves out,
/// which only the past and the present of states may be.
struct OpenTensor {
  int position;     ///< among the inputs or the outputs
  Storage network;  ///< where it lies in the network
  std::vector<int64_t> extents;
  std::vector<Length> lengths;
  int64_t element_bytes;
};

/// What is kept from one run to the next: `outer` blocks of `room` rows each, of which a run has
/// the first ones.
struct PlannedState {
  int64_t position;  ///< in the memory of states
  int64_t outer, room, row_bytes;
  bool operator==(const PlannedState&) const = default;
};

/// Which dimension of which input is as long as an open dimension of the graph; -1 and -1 for one
/// that the network finds. Throws InputError where no input has it by itself.
std::pair<int, int> PlaceOfSymbol(const Graph& graph, int symbol);

/// Takes constants as programs read them.
class ConstantSink {
 public:
  virtual ~ConstantSink() = default;
  /// The place of these bytes: a multiple of 64.
  virtual int64_t Add(std::span<const std::byte> constant) = 0;
};

/// Everything about a network that is decided before it runs: the place of every argument, and
/// the constants packed in the order in which the chosen programs read them. Shared by the
/// executor and by ahead-of-time packages.
struct NetworkPlan {
  std::vector<PlannedCall> calls;  ///< parallel to the network's
  /// By call: what runs in place of it where a size is small, the first one of those that fit.
  /// Empty: all calls always run.
  std::vector<std::vector<SmallCall>> small_calls;
  /// The same calls of the further programs that their tasks have, where there are any
  /// (PlanWithAlternatives): first by call, then by program.
  std::vector<std::vector<PlannedCall>> alternatives;
  /// Positions in `calls`, in the order in which they run. Those of one round may run at the same
  /// time.
  std::vector<std::vector<int>> rounds;
  std::vector<PlannedCopy> copies;
  std::vector<Symbol>
      symbols;  ///< the open dimensions; none where the network is one of fixed sizes
  std::vector<PlannedSize> sizes;
  std::vector<PlannedFound> found;  ///< by ascending `rounds`
  std::vector<OpenTensor> open_inputs, open_outputs;
  std::vector<std::byte> constants;  ///< every one starts at a multiple of 64; empty with a sink
  std::vector<PlannedState> states;  ///< parallel to Graph::states
  int64_t state_bytes = 0;           ///< of all of them
  int64_t arena_bytes = 0;           ///< values that are neither inputs, outputs nor constants
  /// Of the largest, where there are open dimensions.
  std::vector<int64_t> input_bytes;
  std::vector<int64_t> output_bytes;

  /// For each of `count` tasks, whether a call of it runs beside others.
  std::vector<bool> TasksSideBySide(size_t count) const;
};

/// `programs`: one per task, as it will be compiled for the target. Calls run in turn by one thread
/// and on GPUs, and where their programs cannot run side by side (codegen/kernel_steps.h).
/// Constants go to the sink, where there is one. `small`: programs besides, those of a task by
/// ascending `up_to`.
NetworkPlan PlanNetwork(const TaskGraph& network,
                        const std::vector<const tensor::Program*>& programs,
                        const target::Target& target, Branches branches,
                        ConstantSink* sink = nullptr, std::span<const SmallProgram> small = {});

/// The same for one of several programs of each task, any of which a run may use, with calls in
/// turn. `programs`: at least one for each task; the first are those of NetworkPlan::calls.
/// Constants that several programs read in the same order are there once.
NetworkPlan PlanWithAlternatives(const TaskGraph& network,
                                 const std::vector<std::vector<const tensor::Program*>>& programs,
                                 const target::Target& target);

}  // namespace bayloom::graph

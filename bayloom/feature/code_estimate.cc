// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/code_estimate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "bayloom/feature/internal/cache_lines.h"
#include "bayloom/feature/internal/register_nest.h"
#include "bayloom/tensor/access.h"

namespace bayloom::feature {
namespace {

// What cannot be measured in isolation, in vector multiply-adds; judged by the programs of
// benchmarks/zero_trials.
constexpr double kScalarOperation = 0.5;
constexpr double kLoopStep = 0.6;         ///< of a loop that is not unrolled
constexpr double kStridedElement = 1.3;   ///< of a register that is gathered or scattered
constexpr double kMaxInFlight = 8;        ///< multiply-adds, as codegen reckons

/// Which of a nest's loops something changes with.
using LoopMask = uint64_t;
constexpr LoopMask kVector = 1;
constexpr LoopMask kReduction = 2;
constexpr int kFirstTile = 2;

/// An operation of a block's value: what it costs and what it changes with.
struct Operation {
  LoopMask mask = 0;
  double cost = 0;
  bool is_load = false;
};

/// The machine's costs in seconds.
struct Costs {
  double multiply_add, load, division, transcendental, in_flight;

  explicit Costs(const target::MachineModel& machine)
      : multiply_add(machine.multiply_add.alone),
        load(machine.vector_load),
        division(machine.division),
        transcendental(machine.transcendental),
        in_flight(std::min(machine.multiply_add_latency,
                           kMaxInFlight * machine.multiply_add.alone)) {}
};

/// Lists the operations of a block's value.
class OperationList {
 public:
  OperationList(const tensor::Program& program, const tensor::Block& block,
                const RegisterNest& nest, const Costs& costs)
      : program_(program), block_(block), nest_(nest), costs_(costs) {
    for (const tensor::Affine& binding : block.bindings) masks_.push_back(MaskOf(binding));
  }

  std::vector<Operation> Take(const tensor::Expr& value) {
    // A product that is summed is part of the multiply-add.
    const bool fused = nest_.is_reduction && value->op == tensor::ExprOp::kMul &&
                       block_.reduction == tensor::Reduction::kSum;
    if (fused) {
      for (const tensor::Expr& operand : value->operands) Add(operand);
    } else {
      Add(value);
    }
    return std::move(operations_);
  }

  /// Cost of a register's elements at the place, which the vectorized loop strides over or not.
  double MemoryCost(const std::vector<tensor::Expr>& indices, tensor::BufferId buffer,
                    LoopMask mask) const {
    if ((mask & kVector) == 0) return kScalarOperation * costs_.multiply_add;
    return IsContiguous(indices, buffer)
               ? costs_.load
               : kStridedElement * std::min(nest_.width, nest_.lanes) * costs_.multiply_add;
  }

  LoopMask MaskOf(const std::vector<tensor::Expr>& indices) const {
    LoopMask mask = 0;
    for (const tensor::Expr& index : indices) mask |= MaskOf(index);
    return mask;
  }

 private:
  bool Contains(const std::vector<tensor::LoopId>& loops, tensor::DigitId digit) const {
    return std::ranges::any_of(loops, [&](tensor::LoopId loop) {
      return std::ranges::find(program_.loops[loop].digits, digit) !=
             program_.loops[loop].digits.end();
    });
  }

  LoopMask MaskOf(const tensor::Affine& affine) const {
    LoopMask mask = 0;
    for (const tensor::Affine::Term& term : affine.terms) {
      if (Contains(nest_.vectorized, term.digit)) mask |= kVector;
      if (Contains(nest_.reduction, term.digit)) mask |= kReduction;
      for (size_t i = 0; i < nest_.tile.size(); ++i) {
        if (Contains({nest_.tile[i].loop}, term.digit)) mask |= LoopMask{1} << (kFirstTile + i);
      }
    }
    return mask;
  }

  LoopMask MaskOf(const tensor::Expr& e) const {
    if (e->op == tensor::ExprOp::kIter) return masks_[e->index];
    LoopMask mask = 0;
    for (const tensor::Expr& operand : e->operands) mask |= MaskOf(operand);
    return mask;
  }

  bool IsContiguous(const std::vector<tensor::Expr>& indices, tensor::BufferId buffer) const {
    tensor::Access access{buffer, false, {}};
    for (const tensor::Expr& index : indices) {
      access.indices.push_back(tensor::ComposeIndex(index, block_.bindings));
    }
    const std::optional<tensor::Affine> offset =
        tensor::LinearOffset(program_, access, /*allocation=*/nullptr);
    if (!offset) return false;
    for (const tensor::LoopId loop : nest_.vectorized) {  // the innermost first
      const std::vector<tensor::DigitId>& digits = program_.loops[loop].digits;
      for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
        if (program_.digit_extents[*digit] > 1) return offset->CoefficientOf(*digit) == 1;
      }
    }
    return false;
  }

  /// Adds what an expression computes; its mask.
  LoopMask Add(const tensor::Expr& e) {
    if (const auto known = known_.find(e.get()); known != known_.end()) return known->second;
    LoopMask mask = 0;
    if (e->op == tensor::ExprOp::kLoad) {
      mask = MaskOf(e->operands);
      operations_.push_back({mask, MemoryCost(e->operands, e->index, mask), true});
    } else if (e->op == tensor::ExprOp::kIter) {
      mask = masks_[e->index];
    } else {
      for (const tensor::Expr& operand : e->operands) mask |= Add(operand);
      if (const double cost = CostOf(*e, mask); cost > 0) operations_.push_back({mask, cost});
    }
    known_.emplace(e.get(), mask);
    return mask;
  }

  double CostOf(const tensor::ExprNode& node, LoopMask mask) const {
    if (node.operands.empty()) return 0;
    if (tensor::IsTranscendental(node.op)) return costs_.transcendental;
    if (node.op == tensor::ExprOp::kSqrt) return costs_.division;
    const double operation =
        ((mask & kVector) != 0 ? 1 : kScalarOperation) * costs_.multiply_add;
    const bool divides = node.op >= tensor::ExprOp::kDiv && node.op <= tensor::ExprOp::kMod &&
                         node.op != tensor::ExprOp::kMul;
    if (!divides) return operation;
    if (tensor::IsFloat(node.dtype)) return costs_.division;
    // Integer divisions have no vector form.
    return costs_.division * ((mask & kVector) != 0 ? std::min(nest_.width, nest_.lanes) : 1);
  }

  const tensor::Program& program_;
  const tensor::Block& block_;
  const RegisterNest& nest_;
  const Costs& costs_;
  std::vector<LoopMask> masks_;  ///< of the iterators
  std::vector<Operation> operations_;
  std::map<const tensor::ExprNode*, LoopMask> known_;
};

/// What an iteration of a reduction takes for each of its outputs that are in registers.
class TileTime {
 public:
  TileTime(const RegisterNest& nest, const std::vector<Operation>& operations, const Costs& costs,
           double combine, double step, double registers)
      : nest_(nest),
        operations_(operations),
        costs_(costs),
        combine_(combine),
        step_(step),
        registers_(registers) {}

  /// With the best part of the loops in the tile.
  double Best() {
    taken_.assign(nest_.tile.size(), 1);
    const auto chunks = static_cast<int64_t>(nest_.chunks);
    for (int64_t taken = 1; taken <= std::min<int64_t>(chunks, 32); ++taken) {
      if (chunks % taken == 0) Try(0, static_cast<double>(taken), static_cast<double>(taken));
    }
    return best_;
  }

 private:
  void Try(size_t loop, double chunks, double outputs) {
    if (loop == nest_.tile.size()) {
      best_ = std::min(best_, Of(chunks, outputs));
      return;
    }
    const int64_t steps = nest_.tile[loop].steps;
    const auto limit = static_cast<int64_t>(registers_ / outputs);
    for (int64_t taken = 1; taken <= std::min(steps, limit); ++taken) {
      if (steps % taken != 0) continue;
      taken_[loop] = taken;
      Try(loop + 1, chunks, outputs * static_cast<double>(taken));
    }
    taken_[loop] = 1;
  }

  double Of(double chunks, double outputs) const {
    double live = outputs, seconds = outputs * combine_ + step_;
    for (const Operation& operation : operations_) {
      if ((operation.mask & kReduction) == 0) continue;  // computed once before
      double values = 1, kept = 1;
      bool reused = false;
      for (size_t i = 0; i <= taken_.size(); ++i) {
        const bool is_vector = i == taken_.size();
        const LoopMask bit = is_vector ? kVector : LoopMask{1} << (kFirstTile + i);
        const double taken = is_vector ? chunks : static_cast<double>(taken_[i]);
        const bool varies = (operation.mask & bit) != 0;
        if (varies) values *= taken;
        if (varies && reused) kept *= taken;
        reused = reused || (!varies && taken > 1);
      }
      if (operation.is_load) live += kept;
      seconds += values * operation.cost;
    }
    if (live > registers_ + 1) return kNever;
    return std::max(seconds, costs_.in_flight) / outputs;
  }

  static constexpr double kNever = 1e30;
  const RegisterNest& nest_;
  const std::vector<Operation>& operations_;
  const Costs& costs_;
  double combine_, step_, registers_;
  std::vector<int64_t> taken_;
  double best_ = kNever;
};

/// The innermost loop's step, unless it is unrolled.
double StepSeconds(const tensor::Program& program, const std::vector<tensor::LoopId>& loops,
                   const Costs& costs) {
  int64_t max_step = 0;
  for (tensor::LoopId loop : loops) {
    max_step = std::max(max_step, program.loops[loop].unroll_max_step);
  }
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    const int64_t extent = program.ExtentOf(*loop);
    if (program.loops[*loop].kind == tensor::LoopKind::kVectorized || extent == 1) continue;
    return extent <= std::max<int64_t>(max_step, 1) ? 0 : kLoopStep * costs.multiply_add;
  }
  return 0;
}

/// Seconds of one thread alone, without what the caches lack.
double OperationSeconds(const tensor::Program& program, tensor::BlockId id,
                        const std::vector<tensor::LoopId>& loops, double iterations,
                        const target::MachineModel& machine) {
  const tensor::Block& block = program.blocks[id];
  const Costs costs(machine);
  const RegisterNest nest = RegisterNestOf(program, id, loops, machine.vector_bytes);
  OperationList list(program, block, nest, costs);
  const double runs = iterations / nest.lanes * nest.chunks;  // of registers
  const LoopMask output = list.MaskOf(block.output_index);
  const double store = list.MemoryCost(block.output_index, block.output, output);
  const double step = StepSeconds(program, loops, costs);
  if (block.kind == tensor::BlockKind::kInit) return runs * (store + step / nest.chunks);
  const std::vector<Operation> operations = list.Take(block.value);
  double all = 0, once = 0;
  for (const Operation& operation : operations) {
    const bool is_vector = (operation.mask & kVector) != 0;
    all += operation.cost / (is_vector ? 1 : nest.chunks);
    if ((operation.mask & kReduction) == 0) once += operation.cost;
  }
  if (!nest.is_reduction) return runs * (all + store + step / nest.chunks);
  const double combine = (nest.lanes > 1 ? 1 : kScalarOperation) * costs.multiply_add;
  // In memory: what was stored must be loaded again.
  const double in_memory = all + combine + store + costs.load;
  if (!nest.in_registers) return runs * (in_memory + step / nest.chunks);
  const double registers = machine.vector_bytes >= 64 ? 32 : 16;
  const double each = TileTime(nest, operations, costs, combine, step, registers).Best();
  double reduced = 1;
  for (tensor::LoopId loop : nest.reduction) {
    reduced *= static_cast<double>(program.ExtentOf(loop));
  }
  return runs * std::min(each, in_memory + costs.in_flight) + runs / reduced * (once + 2 * store);
}

double EstimateBlock(const tensor::Program& program, tensor::BlockId block,
                     const std::vector<tensor::LoopId>& loops,
                     const target::MachineModel& machine) {
  double iterations = 1, jobs = 1;
  for (tensor::LoopId id : loops) {
    const auto extent = static_cast<double>(program.ExtentOf(id));
    iterations *= extent;
    if (program.loops[id].kind == tensor::LoopKind::kParallel) jobs *= extent;
  }
  const EstimateWeights weights;
  const double busy = jobs / std::ceil(jobs / machine.threads);
  const double slower = machine.multiply_add.PerThread(busy) / machine.multiply_add.alone;
  const double seconds =
      slower * OperationSeconds(program, block, loops, iterations, machine) +
      LineSeconds(program, block, loops, iterations, CachesOf(machine, weights, busy),
                  /*whole_lines=*/true);
  return seconds / busy + (jobs > 1 ? weights.job * machine.job * jobs : 0);
}

}  // namespace

double EstimateCodeTime(const tensor::Program& program, const target::MachineModel& machine) {
  double seconds = 0;
  std::set<tensor::LoopId> counted;
  for (tensor::BlockId block : program.BlocksInOrder()) {
    const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(block));
    seconds += EstimateBlock(program, block, loops, machine);
    seconds += EstimateWeights().fork_join * ForkJoinSeconds(program, loops, machine, counted);
  }
  return seconds;
}

}  // namespace bayloom::feature

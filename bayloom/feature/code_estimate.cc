// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/code_estimate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <vector>

#include "bayloom/feature/cache_lines.h"
#include "bayloom/feature/call_time.h"
#include "bayloom/feature/cpu_nest.h"
#include "bayloom/feature/operation_list.h"
#include "bayloom/feature/program_of_run.h"
#include "bayloom/feature/time_estimate.h"
#include "bayloom/feature/touched_memory.h"

namespace bayloom::feature {
namespace {

constexpr double kLoopStep = 0.6;  ///< of a loop that is not unrolled, in multiply-adds
constexpr double kUnhidden = 0.2;  ///< part of the loads that shows beside arithmetic
/// Part of the time for cache lines that shows beside operations: they are fetched ahead.
constexpr double kUnhiddenLines = 0.1;

/// Arithmetic and loads that are carried out at the same time.
double Together(double arithmetic, double loads) {
  return std::max(arithmetic, loads) + kUnhidden * std::min(arithmetic, loads);
}

class ProgramEstimate {
 public:
  ProgramEstimate(const tensor::Program& program, const plan::CpuPlan& plan,
                  const target::Target& target)
      : program_(program),
        plan_(plan),
        machine_(target::MachineOf(target)),
        registers_(target::VectorRegisters(target)),
        costs_(machine_),
        places_(program, plan.memory) {}

  double Seconds() const {
    double seconds = 0;
    std::set<tensor::LoopId> counted;
    for (tensor::BlockId block : program_.BlocksInOrder()) {
      if (program_.blocks[block].kind == tensor::BlockKind::kCall) {
        seconds += CallSeconds(program_.blocks[block], machine_);
      } else if (!plan_.absorbed.contains(block)) {
        const CpuNest nest = CpuNestOf(program_, plan_, block);
        const double fork_join = ForkJoinSeconds(program_, nest.loops, machine_, counted);
        seconds += OfNest(block, nest) + EstimateWeights().fork_join * fork_join;
      }
    }
    return seconds;
  }

 private:
  /// With what is computed on its results while they are in registers.
  double OfNest(tensor::BlockId id, const CpuNest& nest) const {
    const tensor::Block& block = program_.blocks[id];
    double jobs = 1;
    for (tensor::LoopId loop : nest.loops) {
      if (program_.loops[loop].kind != tensor::LoopKind::kParallel) continue;
      jobs *= static_cast<double>(program_.ExtentOf(loop));
    }
    const double busy = jobs / std::ceil(jobs / machine_.threads);
    const auto epilogue = plan_.epilogues.find(id);
    const tensor::BufferId handed = epilogue == plan_.epilogues.end() ? -1 : block.output;
    double seconds = WithLines(OperationsOf(id, nest, handed), block, nest, handed, busy);
    if (handed >= 0) {
      const tensor::Block& consumer = epilogue->second.block;
      const CpuNest after = EpilogueNestOf(program_, nest);
      OperationList list(program_, consumer, epilogue->second.accesses, after, costs_, handed);
      seconds += WithLines(OneByOne(after, list, consumer), consumer, after, handed, busy);
    }
    return seconds / busy + (jobs > 1 ? EstimateWeights().job * machine_.job * jobs : 0);
  }

  double WithLines(double seconds, const tensor::Block& block, const CpuNest& nest,
                   tensor::BufferId handed, double busy) const {
    const double slower = machine_.multiply_add.PerThread(busy) / machine_.multiply_add.alone;
    const double operations = slower * seconds;
    const double lines =
        LineSeconds(program_, block, PartsOf(nest), CachesOf(machine_, busy), &places_, handed);
    return std::max(operations, lines) + kUnhiddenLines * std::min(operations, lines);
  }

  /// Of one thread alone, without what the caches lack.
  double OperationsOf(tensor::BlockId id, const CpuNest& nest, tensor::BufferId handed) const {
    const tensor::Block& block = program_.blocks[id];
    OperationList list(program_, block, plan_.accesses.at(id), nest, costs_);
    return nest.tile ? OfTile(id, nest, list, handed) : OneByOne(nest, list, block);
  }

  double InstancesOf(const CpuNest& nest) const {
    double instances = 1;
    for (tensor::LoopId loop : nest.loops) {
      instances *= static_cast<double>(program_.ExtentOf(loop));
    }
    return instances;
  }

  /// Of a block that stores each register when it is computed.
  double OneByOne(const CpuNest& nest, OperationList& list, const tensor::Block& block) const {
    const auto at_once = static_cast<double>(nest.at_once());
    const auto chunks = static_cast<double>(nest.chunks);
    const double runs = InstancesOf(nest) / (nest.lanes() * at_once) * chunks;
    const double step = nest.loop_steps * kLoopStep * costs_.multiply_add / chunks;
    const double store = list.StoreCost();
    if (block.kind == tensor::BlockKind::kInit || !block.value.defined()) {
      return runs * (store + step);
    }
    const plan::TileWork work;
    double arithmetic = 0, loads = 0;
    for (const Operation& operation : list.Take(work)) {
      const double shared = nest.is_reduction
                                ? ((operation.mask & kVector) != 0 ? 1 : chunks)
                                : static_cast<double>(nest.Sums()) /
                                      static_cast<double>(nest.ValuesOf(operation.mask));
      (operation.is_load ? loads : arithmetic) += operation.cost / shared;
    }
    const double all = Together(arithmetic, loads + store) + step;
    // In memory: what was stored must be loaded again.
    const double again = nest.is_reduction ? Combine(nest, work) + costs_.load : 0;
    return runs * (all + again);
  }

  /// Seconds for adding to a register of sums.
  double Combine(const CpuNest& nest, const plan::TileWork& work) const {
    return (nest.vector ? work.combine : kScalarOperation) * costs_.multiply_add;
  }

  /// Of a block whose sums stay in registers.
  double OfTile(tensor::BlockId id, const CpuNest& nest, OperationList& list,
                tensor::BufferId handed) const {
    const plan::TileWork work = plan::WorkOf(plan_, id);
    const double store = handed >= 0 ? 0 : list.StoreCost();
    const auto sums = static_cast<double>(nest.Sums());
    double arithmetic =
        sums * Combine(nest, work) + nest.loop_steps * kLoopStep * costs_.multiply_add;
    double loads = 0, once = 0;
    for (const Operation& operation : list.Take(work)) {
      auto values = static_cast<double>(nest.ValuesOf(operation.mask));
      if ((operation.mask & kReductionMask) == 0) {
        once += operation.cost * values / sums;
        continue;
      }
      if (operation.slides >= 0) values *= NewPart(nest, operation, values);
      (operation.is_load ? loads : arithmetic) += values * operation.cost;
    }
    const double step = std::max(Together(arithmetic, loads), costs_.in_flight);
    double reduced = 1;
    for (tensor::LoopId loop : nest.reduction) {
      reduced *= static_cast<double>(program_.ExtentOf(loop));
    }
    const double instances = InstancesOf(nest);
    const double terms = instances / (nest.lanes() * static_cast<double>(nest.at_once())) *
                         static_cast<double>(nest.chunks);
    const double results =
        instances / reduced / (nest.folds ? 1 : nest.lanes() / static_cast<double>(nest.chunks));
    // The lanes of a result are combined in halves, each of which waits for the one before.
    const double folding = nest.folds ? std::log2(nest.width()) * costs_.in_flight : 0;
    const double start = nest.tile->starts_neutral ? costs_.multiply_add : store;
    return terms * step / sums + results * (once + start + store + folding);
  }

  /// Of the values that a step of the innermost reduction loop uses, the part that the step before
  /// has not loaded. They are the same where both are unrolled and the registers hold them.
  double NewPart(const CpuNest& nest, const Operation& operation, double values) const {
    const auto sums = static_cast<double>(nest.Sums());
    if (!nest.unrolls_reduction || sums + values > registers_) return 1;
    const auto taken = static_cast<double>(nest.steps[operation.slides].count);
    const auto steps = static_cast<double>(program_.ExtentOf(nest.reduction.back()));
    return (taken + steps - 1) / (taken * steps);
  }

  /// The loops with the tile inside of the reduction loops and the rest of its loops around them.
  std::vector<LoopPart> PartsOf(const CpuNest& nest) const {
    if (!nest.tile) return WholeLoops(program_, nest.loops);
    std::vector<LoopPart> around, reduction, inside;
    const auto is_in = [](const std::vector<tensor::LoopId>& some, tensor::LoopId loop) {
      return std::ranges::find(some, loop) != some.end();
    };
    for (tensor::LoopId loop : nest.loops) {
      const int64_t extent = program_.ExtentOf(loop);
      if (is_in(nest.reduction, loop)) {
        reduction.push_back({loop, extent, true});
      } else if (is_in(nest.tile->spatial, loop) ||
                 (nest.vector && is_in(nest.vector->loops, loop))) {
        int64_t taken = 1;
        for (tensor::DigitId digit : program_.loops[loop].digits) {
          taken *= nest.tile->StepsOf(program_, digit);
        }
        if (taken < extent) around.push_back({loop, extent / taken});
        inside.push_back({loop, taken, nest.is_reduction});
      } else {
        around.push_back({loop, extent});
      }
    }
    std::ranges::move(reduction, std::back_inserter(around));
    std::ranges::move(inside, std::back_inserter(around));
    return around;
  }

  const tensor::Program& program_;
  const plan::CpuPlan& plan_;
  const target::MachineModel machine_;
  const int registers_;
  const Costs costs_;
  const BufferPlaces places_;
};

}  // namespace

double EstimateCodeTime(const tensor::Program& program, const target::Target& target) {
  if (target.kind() == target::TargetKind::kNvidiaGpu) return EstimateTime(program, target);
  const Result<plan::CpuPlan> plan = plan::PlanCpuNests(program, target);
  if (!plan) return std::numeric_limits<double>::infinity();
  if (program.points.empty()) return ProgramEstimate(program, *plan, target).Seconds();
  double logs = 0;
  for (const std::vector<int64_t>& sizes : program.points) {
    const tensor::Program run = ProgramOfRun(program, *plan, sizes);
    logs += std::log(ProgramEstimate(run, *plan, target).Seconds());
  }
  return std::exp(logs / static_cast<double>(program.points.size()));
}

}  // namespace bayloom::feature

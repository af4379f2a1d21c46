// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/code_estimate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "bayloom/feature/cache_lines.h"
#include "bayloom/feature/call_time.h"
#include "bayloom/feature/dot_work.h"
#include "bayloom/feature/operation_list.h"
#include "bayloom/feature/register_nest.h"
#include "bayloom/feature/register_tile.h"
#include "bayloom/feature/time_estimate.h"
#include "bayloom/feature/touched_memory.h"
#include "bayloom/plan/cpu/cpu_plan.h"

namespace bayloom::feature {
namespace {

constexpr double kLoopStep = 0.6;         ///< of a loop that is not unrolled, in multiply-adds
constexpr double kIntegerRegisters = 12;  ///< that are left for values
/// Part of the time for cache lines that shows beside operations: they are fetched ahead.
constexpr double kUnhiddenLines = 0.1;

int64_t MaxStep(const tensor::Program& program, const std::vector<tensor::LoopId>& loops) {
  int64_t max_step = 0;
  for (tensor::LoopId loop : loops) {
    max_step = std::max(max_step, program.loops[loop].unroll_max_step);
  }
  return max_step;
}

/// The innermost loops that are unrolled around a block, as the tile of its nest.
void TakeUnrolled(const tensor::Program& program, const std::vector<tensor::LoopId>& loops,
                  RegisterNest& nest) {
  const int64_t limit = std::min(MaxStep(program, loops), plan::kMaxUnrolled);
  auto steps = static_cast<int64_t>(nest.chunks);
  for (auto loop = loops.rbegin() + std::ssize(nest.vectorized); loop != loops.rend(); ++loop) {
    const int64_t extent = program.ExtentOf(*loop);
    const tensor::LoopKind kind = program.loops[*loop].kind;
    steps *= extent;
    if (steps > (kind == tensor::LoopKind::kUnrolled ? plan::kMaxUnrolled : limit) ||
        program.loops[*loop].body.size() > 1 || kind == tensor::LoopKind::kParallel) {
      return;
    }
    if (extent > 1) nest.tile.push_back({*loop, extent, extent});
  }
}

/// The innermost loop's step, unless it is unrolled.
double StepSeconds(const tensor::Program& program, const std::vector<tensor::LoopId>& loops,
                   const Costs& costs) {
  const int64_t max_step = MaxStep(program, loops);
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    const int64_t extent = program.ExtentOf(*loop);
    const tensor::LoopKind kind = program.loops[*loop].kind;
    if (kind == tensor::LoopKind::kVectorized || kind == tensor::LoopKind::kTensorized ||
        kind == tensor::LoopKind::kUnrolled || extent == 1) {
      continue;
    }
    return extent <= std::max<int64_t>(max_step, 1) ? 0 : kLoopStep * costs.multiply_add;
  }
  return 0;
}

/// What a block's operations take, and the order in which its loops run.
struct BlockCode {
  double seconds;  ///< of one thread alone, without what the caches lack
  std::vector<LoopPart> parts;
};

/// The loops with the tile inside of the reduction loops and the rest of its loops around them.
std::vector<LoopPart> PartsOf(const tensor::Program& program,
                              const std::vector<tensor::LoopId>& loops, const RegisterNest& nest,
                              const RegisterTile& tile) {
  std::vector<LoopPart> around, inside;
  const auto is_in = [](const std::vector<tensor::LoopId>& some, tensor::LoopId loop) {
    return std::ranges::find(some, loop) != some.end();
  };
  for (tensor::LoopId loop : loops) {
    const int64_t steps = program.ExtentOf(loop);
    const auto in_tile = std::ranges::find(nest.tile, loop, &RegisterNest::TileLoop::loop);
    if (in_tile != nest.tile.end()) {
      const int64_t taken = tile.taken[in_tile - nest.tile.begin()];
      if (taken < steps) around.push_back({loop, steps / taken});
      inside.push_back({loop, taken, true});
    } else if (is_in(nest.vectorized, loop) && nest.vectorized.size() == 1 && !nest.folds &&
               tile.chunks < nest.chunks) {
      const auto parts = static_cast<int64_t>(nest.chunks / tile.chunks);
      around.push_back({loop, parts});
      inside.push_back({loop, steps / parts, true});
    } else if (is_in(nest.vectorized, loop)) {
      inside.push_back({loop, steps, true});
    } else if (!is_in(nest.reduction, loop)) {
      around.push_back({loop, steps});
    }
  }
  for (tensor::LoopId loop : nest.reduction) {
    if (!is_in(nest.vectorized, loop)) around.push_back({loop, program.ExtentOf(loop), true});
  }
  std::ranges::move(inside, std::back_inserter(around));
  return around;
}

/// Of one thread alone.
BlockCode CodeOf(const tensor::Program& program, const BufferPlaces& places, tensor::BlockId id,
                 const std::vector<tensor::LoopId>& loops, double iterations,
                 const target::Target& target, const target::MachineModel& machine) {
  const tensor::Block& block = program.blocks[id];
  const Costs costs(machine);
  RegisterNest nest = RegisterNestOf(program, id, loops, places, machine);
  if (!nest.is_reduction) TakeUnrolled(program, loops, nest);
  const std::optional<DotWork> dot = DotWorkOf(program, id, places, target, nest);
  OperationList list(program, places, block, nest, costs, dot);
  const auto at_once = static_cast<double>(nest.at_once);
  const double runs = iterations / (nest.lanes * at_once) * nest.chunks;  // of registers
  const LoopMask output = list.MaskOf(block.output_index);
  const double store = list.MemoryCost(block.output_index, block.output, output);
  const double step = StepSeconds(program, loops, costs);
  if (block.kind == tensor::BlockKind::kInit || !block.value.defined()) {
    return {runs * (store + step / nest.chunks), WholeLoops(program, loops)};
  }
  const std::vector<Operation> operations = list.Take(block.value);
  double arithmetic = 0, loads = 0, once = 0;
  for (const Operation& operation : operations) {
    double shared = (operation.mask & kVector) != 0 ? 1 : nest.chunks;
    for (size_t i = 0; !nest.is_reduction && i < nest.tile.size(); ++i) {
      const bool varies = (operation.mask >> (kFirstTile + i) & 1) != 0;
      if (!varies) shared *= static_cast<double>(nest.tile[i].steps);
    }
    (operation.is_load ? loads : arithmetic) += operation.cost / shared;
    if ((operation.mask & kReductionMask) == 0) once += operation.cost;
  }
  const double all = Together(arithmetic, loads + store) + step / nest.chunks;
  if (!nest.is_reduction) return {runs * all, WholeLoops(program, loops)};
  const double combine = (dot              ? dot->combine
                          : nest.lanes > 1 ? 1
                                           : kScalarOperation) *
                         costs.multiply_add;
  // In memory: what was stored must be loaded again.
  const double in_memory = all + combine + costs.load;
  if (!nest.in_registers) return {runs * in_memory, WholeLoops(program, loops)};
  const bool is_integer = !tensor::IsFloat(program.buffers[block.output].dtype);
  const double registers =
      is_integer && nest.lanes == 1 ? kIntegerRegisters : machine.vector_registers;
  const int64_t unrolled =
      nest.reduction.empty() || nest.folds ? 1 : program.ExtentOf(nest.reduction.back());
  const RegisterTile tile = BestRegisterTile(
      nest, operations, costs, {combine, step, registers, unrolled, MaxStep(program, loops)});
  double reduced = 1 / at_once;
  for (tensor::LoopId loop : nest.reduction) {
    reduced *= static_cast<double>(program.ExtentOf(loop));
  }
  if (nest.folds) {
    // The lanes of a result are combined in halves, each of which waits for the one before.
    const double folding = std::log2(nest.width) * costs.in_flight;
    return {runs * tile.seconds + iterations / reduced * (once + 2 * store + folding),
            PartsOf(program, loops, nest, tile)};
  }
  const double without = in_memory + costs.in_flight;
  return {
      runs * std::min(tile.seconds, without) + runs / reduced * (once + 2 * store),
      tile.seconds < without ? PartsOf(program, loops, nest, tile) : WholeLoops(program, loops)};
}

double EstimateBlockCode(const tensor::Program& program, const BufferPlaces& places,
                         tensor::BlockId block, const std::vector<tensor::LoopId>& loops,
                         const target::Target& target, const target::MachineModel& machine) {
  if (program.blocks[block].kind == tensor::BlockKind::kCall) {
    return CallSeconds(program.blocks[block], machine);
  }
  double iterations = 1, jobs = 1;
  for (tensor::LoopId id : loops) {
    const auto extent = static_cast<double>(program.ExtentOf(id));
    iterations *= extent;
    if (program.loops[id].kind == tensor::LoopKind::kParallel) jobs *= extent;
  }
  const EstimateWeights weights;
  const double busy = jobs / std::ceil(jobs / machine.threads);
  const double slower = machine.multiply_add.PerThread(busy) / machine.multiply_add.alone;
  const BlockCode code = CodeOf(program, places, block, loops, iterations, target, machine);
  const double operations = slower * code.seconds;
  const double lines = LineSeconds(program, block, code.parts, CachesOf(machine, busy), &places);
  const double seconds = std::max(operations, lines) + kUnhiddenLines * std::min(operations, lines);
  return seconds / busy + (jobs > 1 ? weights.job * machine.job * jobs : 0);
}

}  // namespace

double EstimateCodeTime(const tensor::Program& program, const target::Target& target) {
  if (target.kind() == target::TargetKind::kNvidiaGpu) return EstimateTime(program, target);
  const target::MachineModel machine = target::MachineOf(target);
  const BufferPlaces places(program);
  double seconds = 0;
  std::set<tensor::LoopId> counted;
  for (tensor::BlockId block : program.BlocksInOrder()) {
    const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(block));
    seconds += EstimateBlockCode(program, places, block, loops, target, machine);
    seconds += EstimateWeights().fork_join * ForkJoinSeconds(program, loops, machine, counted);
  }
  return seconds;
}

}  // namespace bayloom::feature

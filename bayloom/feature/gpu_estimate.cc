// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/gpu_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "bayloom/feature/gpu_access.h"
#include "bayloom/feature/gpu_nest.h"
#include "bayloom/feature/op_counts.h"
#include "bayloom/feature/program_of_run.h"
#include "bayloom/feature/warp_work.h"

namespace bayloom::feature {
namespace {

using plan::GpuMemory;

constexpr auto kThreadsOfWarp = static_cast<double>(target::kWarpThreads);
constexpr double kBytesOfSector = 32;
constexpr double kRegisterBytes = 4;
constexpr double kMaxThreadRegisters = 255;
constexpr auto kRegisterGranule = static_cast<double>(target::kRegisterGranule);
constexpr double kDriversSharedBytes = 1024;  ///< of each block, by the driver

// What was not looked up but fitted to measured programs
// (docs/studies/2026-11-gpu-estimate.md#fitted-to-a-device), in instructions or clocks.
constexpr double kBaseRegisters = 16;        ///< for addresses and counters
constexpr double kMaxOperands = 40;          ///< registers for operands of straight code
constexpr double kDivisionInstructions = 8;  ///< instructions
constexpr double kSpecialInstructions = 8;   ///< beside the special function itself
constexpr double kDecodeDigit = 6;  ///< to find the place of an iteration distributed to a thread
constexpr double kStepInstructions = 2;  ///< of a loop that stays one
constexpr double kAhead = 3;  ///< iterations whose loads are issued before they are waited for
constexpr double kFarRegisters = 8;    ///< that are loaded from the second-level cache at a time
constexpr double kNearRegisters = 16;  ///< the same from shared memory or the first-level cache
constexpr double kSharedPart = 0.65;   ///< of accesses to shared memory left after compilation
constexpr double kBarrier = 10;
constexpr double kShuffle = 25;
constexpr double kNotOverlapped = 0.3;  ///< part of what does not decide that shows nevertheless

double DividedUp(double a, double b) { return std::ceil(a / b); }

/// What one block of threads asks of its multiprocessor, in clocks, and of what is behind it.
struct BlockDemand {
  double arithmetic = 0, issue = 0, shared = 0, cache = 0;
  double path = 0;        ///< clocks of its longest thread where nothing else runs, without waiting
  double near_waits = 0;  ///< times that a thread waits for shared memory or first-level cache
  double far_waits = 0;   ///< the same for what is behind those
  double copy_waits = 0;  ///< the same for copies that run ahead, while it computes
  double l2_bytes = 0;
};

/// What a thread does in a nest.
struct ThreadDemand {
  double executions = 0;      ///< of the block, or of an instruction of its warp
  double straight = 1;        ///< of these, one after the other in straight code
  double instructions = 0;    ///< in all
  double near_loads = 0;      ///< of shared memory or the first-level cache
  double near_registers = 0;  ///< that these fill
  double far_registers = 0;   ///< the same for what is behind those
};

/// What a thread does for one access of a nest.
struct AccessDemand {
  double instructions = 0;
  double registers = 1;  ///< of an instruction
  double far_part = 0;   ///< of what is read that comes from the second-level cache or memory
};

class KernelEstimator {
 public:
  KernelEstimator(const tensor::Program& program, const plan::GpuPlan& plan,
                  const plan::KernelPlan& kernel, const target::GpuMachine& gpu)
      : program_(program),
        plan_(plan),
        kernel_(kernel),
        gpu_(gpu),
        nests_(NestsOf(program, plan, kernel)) {
    FindMeetings();
  }

  GpuKernelEstimate Estimate(const KernelRegisters& known) {
    estimate_.blocks = static_cast<double>(kernel_.blocks);
    estimate_.threads = static_cast<double>(kernel_.threads);
    estimate_.shared_bytes = static_cast<double>(kernel_.shared_bytes);
    for (const GpuBlockNest& nest : nests_) {
      products_.push_back(WarpWorkOf(program_, plan_, nest));
    }
    const double spilled = FindOccupancy(known);
    for (size_t i = 0; i < nests_.size(); ++i) {
      AddNest(nests_[i], products_[i], spilled);
    }
    FindMemoryTraffic();
    return PutTogether();
  }

 private:
  double Extent(tensor::LoopId loop) const { return static_cast<double>(program_.ExtentOf(loop)); }

  /// Whether a thread runs from one iteration into the next.
  bool IsStraight(const GpuBlockNest& nest, tensor::LoopId loop) const {
    return nest.IsStraight(loop) && !meetings_.contains(loop);
  }
  bool IsIn(plan::GpuMemory memory, tensor::BufferId buffer) const {
    return plan_.places[buffer].memory == memory;
  }

  /// Loops around the filling of shared memory: threads meet in each iteration, unrolled or not.
  void FindMeetings() {
    for (const GpuBlockNest& nest : nests_) {
      const tensor::BufferId output = program_.blocks[nest.block].output;
      if (nest.distributed < 0 || !IsIn(GpuMemory::kShared, output)) continue;
      for (const tensor::LoopId loop : nest.loops) {
        if (loop == nest.distributed) break;
        meetings_.insert(loop);
      }
    }
  }

  // --- Occupancy --------------------------------------------------------------------------------

  /// Elements that one thread touches: with strides between them fewer than the box around has.
  double Touched(const GpuBlockNest& nest, const tensor::Access& access) const {
    double elements = 1;
    for (const tensor::LoopId loop : nest.serial) {
      if (MovesWith(program_, access, loop)) elements *= Extent(loop);
    }
    return elements;
  }

  /// Accumulators and such, and the operands of one step of straight code.
  double EstimatedRegisters() const {
    double kept = 0, operands = 0;
    for (size_t i = 0; i < nests_.size(); ++i) {
      const GpuBlockNest& nest = nests_[i];
      const tensor::BufferId output = program_.blocks[nest.block].output;
      double loaded = 0, touched = 1;
      for (const tensor::Access& access : nest.accesses) {
        if (access.is_write) touched = Touched(nest, access);
        if (access.is_write || IsIn(GpuMemory::kThread, access.buffer)) continue;
        if (products_[i] && products_[i]->by_groups) continue;  // by no thread
        loaded += StraightMoves(nest, products_[i], access) *
                  (products_[i] ? products_[i]->FactorBytes(program_, access) /
                                      (kThreadsOfWarp * kRegisterBytes)
                                : 1);
      }
      // Matrices are loaded one step ahead.
      operands = std::max(operands, std::min((products_[i] ? 2 : 1) * loaded, kMaxOperands));
      if (!IsIn(GpuMemory::kThread, output)) continue;
      if (program_.WriterOf(output) != nest.block) continue;
      double elements = 1;
      for (const int64_t extent : plan_.memory.buffers[output].allocation->shape) {
        elements *= static_cast<double>(extent);
      }
      kept += std::min(elements, touched) *
              std::max(1.0, tensor::ByteSize(program_.buffers[output].dtype) / kRegisterBytes);
    }
    return kBaseRegisters + kept + operands;
  }

  /// Returns the bytes that a thread spills.
  double FindOccupancy(const KernelRegisters& known) {
    const double warps = DividedUp(estimate_.threads, kThreadsOfWarp);
    const auto registers = static_cast<double>(gpu_.registers);
    const double most =
        std::min(kMaxThreadRegisters, std::floor(registers / (warps * kRegisterGranule)) *
                                          kRegisterGranule / kThreadsOfWarp);
    const double wanted = known.registers > 0 ? known.registers : EstimatedRegisters();
    estimate_.registers = std::min(wanted, most);
    const double of_warp =
        DividedUp(estimate_.registers * kThreadsOfWarp, kRegisterGranule) * kRegisterGranule;
    double resident = std::floor(registers / (of_warp * warps));
    resident = std::min(resident, static_cast<double>(gpu_.max_blocks));
    resident = std::min(resident, std::floor(gpu_.max_threads / (warps * kThreadsOfWarp)));
    if (kernel_.shared_bytes > 0) {
      resident = std::min(resident, std::floor(static_cast<double>(gpu_.shared_bytes) /
                                               (estimate_.shared_bytes + kDriversSharedBytes)));
    }
    estimate_.resident = static_cast<int>(std::max(1.0, resident));
    estimate_.occupancy =
        std::min(1.0, estimate_.resident * warps * kThreadsOfWarp / gpu_.max_threads);
    estimate_.waves = estimate_.blocks / (estimate_.resident * gpu_.multiprocessors);
    return known.registers > 0 ? known.spilled_bytes
                               : 2 * kRegisterBytes * std::max(0.0, wanted - most);
  }

  // --- One nest ---------------------------------------------------------------------------------

  /// Elements that straight code goes through, or matrices of a product.
  double StraightMoves(const GpuBlockNest& nest, const std::optional<WarpWork>& product,
                       const tensor::Access& access) const {
    double moves = 1;
    for (const tensor::LoopId loop : nest.serial) {
      if (product && product->Covers(loop)) continue;
      if (IsStraight(nest, loop) && MovesWith(program_, access, loop)) moves *= Extent(loop);
    }
    return moves;
  }

  void AddNest(const GpuBlockNest& nest, const std::optional<WarpWork>& product, double spilled) {
    const double warps = DividedUp(static_cast<double>(nest.active_threads), kThreadsOfWarp);
    double steps = static_cast<double>(nest.distributed_steps);  // of loops that stay loops
    ThreadDemand thread;
    for (const tensor::LoopId loop : nest.serial) {
      if (product && product->Covers(loop)) continue;
      (IsStraight(nest, loop) ? thread.straight : steps) *= Extent(loop);
    }
    const OpCounts counts = CountOps(program_.blocks[nest.block]);
    const double executions = thread.executions = steps * thread.straight;
    const double special = counts[static_cast<size_t>(OpClass::kFloatMath)] +
                           counts[static_cast<size_t>(OpClass::kFloatDivMod)];
    const double floats = product ? 1 : FloatInstructions(counts);
    double& instructions = thread.instructions;
    // Of straight code the indices are known but for where the step begins.
    instructions = executions * floats + steps * (IntegerInstructions(counts) + kStepInstructions);
    if (nest.distributed >= 0 || nest.reduced >= 0) {
      const tensor::LoopId distributed = nest.distributed >= 0 ? nest.distributed : nest.reduced;
      const auto digits = static_cast<double>(program_.loops[distributed].digits.size());
      instructions += kDecodeDigit * (digits - 1) * steps;
    }
    demand_.arithmetic +=
        product ? warps * executions * product->Clocks(gpu_)
                : warps * kThreadsOfWarp * executions *
                      std::max(floats / gpu_.multiply_adds, special / gpu_.special_functions);
    for (const tensor::Access& access : nest.accesses) {
      if (IsIn(GpuMemory::kThread, access.buffer)) continue;
      const bool is_factor = product && !access.is_write;
      const AccessDemand own = is_factor ? AddFactor(nest, *product, access, warps, steps)
                                         : AddAccess(nest, access, warps, steps);
      instructions += own.instructions;
      if (access.is_write) continue;
      thread.near_loads += own.instructions * (1 - own.far_part);
      thread.near_registers += own.instructions * own.registers * (1 - own.far_part);
      thread.far_registers += own.instructions * own.registers * own.far_part;
    }
    const double spill_accesses = steps * spilled / kRegisterBytes;
    instructions += spill_accesses;
    demand_.cache += warps * spill_accesses;
    AddPath(nest, product, thread);
    demand_.issue += warps * instructions / target::kWarpsAClock;
  }

  static double FloatInstructions(const OpCounts& counts) {
    const auto of = [&](OpClass op) { return counts[static_cast<size_t>(op)]; };
    return of(OpClass::kFloatMad) + of(OpClass::kFloatAddSub) + of(OpClass::kFloatMul) +
           kDivisionInstructions * of(OpClass::kFloatDivMod) + of(OpClass::kFloatCompare) +
           kSpecialInstructions * of(OpClass::kFloatMath) + of(OpClass::kFloatOther) +
           of(OpClass::kSelect);
  }

  static double IntegerInstructions(const OpCounts& counts) {
    double sum = 0;
    for (auto op = static_cast<size_t>(OpClass::kIntMad);
         op <= static_cast<size_t>(OpClass::kIntOther); ++op) {
      sum += counts[op];
    }
    return sum;
  }

  /// The longest thread: as many sums as it has at a time hide the latency of each.
  void AddPath(const GpuBlockNest& nest, const std::optional<WarpWork>& product,
               const ThreadDemand& thread) {
    const tensor::Block& block = program_.blocks[nest.block];
    const bool sums =
        block.kind == tensor::BlockKind::kReduce || block.kind == tensor::BlockKind::kUpdate;
    double sums_at_once = 1;
    for (const tensor::Access& access : nest.accesses) {
      if (access.is_write) sums_at_once *= StraightMoves(nest, product, access);
    }
    // A warp has one of four units for matrices.
    const double alone = product ? target::kWarpsAClock * product->Clocks(gpu_) : 1;
    const double latency =
        std::max(alone, (product ? target::kGpuMatrixLatency : target::kGpuArithmeticLatency) /
                            sums_at_once);
    demand_.path += std::max(thread.instructions, sums ? latency * thread.executions : 0);
    // What threads sum in global memory they wait for each time.
    const bool in_memory = sums && plan_.IsGlobal(block.output);
    const double pieces = thread.executions / thread.straight;
    const double fills = pieces / static_cast<double>(nest.distributed_steps);
    const bool runs_ahead = nest.stages > 1;
    if (in_memory) demand_.near_waits += pieces;
    const double batches = DividedUp(nest.distributed >= 0 ? fills : pieces, kAhead);
    if (thread.near_loads > 0) {
      const double often = std::min(1.0, thread.near_loads / std::max(1.0, pieces));
      demand_.near_waits += std::max(batches * often, thread.near_registers / kNearRegisters);
    }
    if (thread.far_registers > 0) {
      if (runs_ahead) {
        demand_.copy_waits += fills / static_cast<double>(nest.stages - 1);
      } else {
        demand_.far_waits +=
            std::max(nest.distributed >= 0 ? fills : batches, thread.far_registers / kFarRegisters);
      }
    }
    if (IsIn(GpuMemory::kShared, block.output)) {
      demand_.path += (runs_ahead ? 1 : 2) * kBarrier * fills;
    }
    if (nest.reduced < 0) return;
    const double rounds =
        std::log2(static_cast<double>(plan::ReducingThreads(program_, nest.reduced)));
    demand_.path += kShuffle * rounds + (rounds > 5 ? 2 * kBarrier : 0);
    demand_.issue += 2 * rounds * static_cast<double>(nest.active_threads) / kThreadsOfWarp /
                     target::kWarpsAClock;
  }

  /// A factor of a product by warps.
  AccessDemand AddFactor(const GpuBlockNest& nest, const WarpWork& product,
                         const tensor::Access& factor, double warps, double steps) {
    const double loads = steps * StraightMoves(nest, product, factor);
    const double clocks = product.FactorBytes(program_, factor) / target::kSharedBytesAClock;
    demand_.shared += warps * loads * clocks;
    if (product.by_groups) return {};
    return {.instructions = loads, .registers = clocks};
  }

  AccessDemand AddAccess(const GpuBlockNest& nest, const tensor::Access& access, double warps,
                         double steps) {
    const WarpAccess warp = WarpAccessOf(program_, plan_, nest, access);
    const double repeats = steps * StraightMoves(nest, std::nullopt, access);
    const tensor::Block& block = program_.blocks[nest.block];
    const bool sums = access.is_write && (block.kind == tensor::BlockKind::kReduce ||
                                          block.kind == tensor::BlockKind::kUpdate);
    AccessDemand demand;
    demand.instructions = (sums ? 2 : 1) * repeats / warp.width;
    demand.registers = std::max(
        1.0, warp.width * tensor::ByteSize(program_.buffers[access.buffer].dtype) / kRegisterBytes);
    const double executions = warps * demand.instructions;
    if (IsIn(GpuMemory::kShared, access.buffer)) {
      demand_.shared += executions * warp.shared_clocks;
      return demand;
    }
    const double bytes = warp.sectors * kBytesOfSector;
    demand_.cache += executions * std::max(warp.lines, bytes / target::kSharedBytesAClock);
    const double asked = executions * bytes;
    const double far =
        access.is_write ? asked : std::min(asked, FromSecondLevel(nest, access, warp));
    demand_.l2_bytes += far;
    if (asked > 0) demand.far_part = far / asked;
    return demand;
  }

  // --- Memory -----------------------------------------------------------------------------------

  /// What digits of loops inside a block of threads run over; those of serial loops from the
  /// `first`-th on.
  std::vector<int64_t> Values(const GpuBlockNest& nest, size_t first) const {
    std::vector<int64_t> values(program_.digit_extents.size(), 1);
    const auto run = [&](tensor::LoopId loop) {
      for (const tensor::DigitId digit : program_.loops[loop].digits) {
        values[static_cast<size_t>(digit)] = program_.digit_extents[static_cast<size_t>(digit)];
      }
    };
    for (const tensor::LoopId loop : nest.thread_loops) run(loop);
    if (nest.reduced >= 0) run(nest.reduced);
    if (nest.distributed >= 0 && nest.distributed != kernel_.grid) run(nest.distributed);
    if (nest.distributed == kernel_.grid && nest.distributed >= 0)
      Limit(nest.distributed, kernel_.threads, values);
    for (size_t i = first; i < nest.serial.size(); ++i) run(nest.serial[i]);
    return values;
  }

  /// Lets the loop's fastest digits run over as many iterations.
  void Limit(tensor::LoopId loop, int64_t iterations, std::vector<int64_t>& values) const {
    const std::vector<tensor::DigitId>& digits = program_.loops[loop].digits;
    for (auto digit = digits.rbegin(); digit != digits.rend() && iterations > 1; ++digit) {
      const int64_t extent = program_.digit_extents[static_cast<size_t>(*digit)];
      values[static_cast<size_t>(*digit)] = std::min(extent, iterations);
      iterations = (iterations + extent - 1) / extent;
    }
  }

  /// Bytes that a block of threads reads of an access beyond its part of the first-level cache:
  /// all of it again for each step of the loops around what the cache holds.
  double FromSecondLevel(const GpuBlockNest& nest, const tensor::Access& access,
                         const WarpAccess& warp) const {
    const double cache = std::max(
        0.0, static_cast<double>(gpu_.cache_bytes) / estimate_.resident - estimate_.shared_bytes);
    const double waste = std::max(1.0, warp.sectors * kBytesOfSector / warp.wanted_bytes);
    size_t level = nest.serial.size();
    for (; level > 0; --level) {
      double held = 0;
      const std::vector<int64_t> values = Values(nest, level - 1);
      for (const tensor::Access& other : nest.accesses) {
        if (plan_.IsGlobal(other.buffer)) {
          held += TouchedBytes(program_, other, values);
        }
      }
      if (held * waste > cache) break;
    }
    double bytes = waste * TouchedBytes(program_, access, Values(nest, level));
    for (size_t i = 0; i < level; ++i) bytes *= Extent(nest.serial[i]);
    return bytes;
  }

  /// What all blocks that run at a time touch is read once for them.
  void FindMemoryTraffic() {
    estimate_.l2_bytes = demand_.l2_bytes * estimate_.blocks;
    const double at_once =
        std::min(estimate_.blocks, static_cast<double>(estimate_.resident) * gpu_.multiprocessors);
    const double waves = std::ceil(estimate_.blocks / at_once);
    double all = 0, of_wave = 0;
    for (const GpuBlockNest& nest : nests_) {
      std::vector<int64_t> wave = Values(nest, 0), whole = wave;
      auto iterations = static_cast<int64_t>(at_once);
      if (kernel_.grid >= 0) Limit(kernel_.grid, iterations * kernel_.threads, wave);
      for (auto loop = kernel_.block_loops.rbegin(); loop != kernel_.block_loops.rend(); ++loop) {
        Limit(*loop, iterations, wave);
        iterations = std::max<int64_t>(1, iterations / program_.ExtentOf(*loop));
      }
      for (const tensor::LoopId loop : nest.loops) {
        for (const tensor::DigitId digit : program_.loops[loop].digits) {
          whole[static_cast<size_t>(digit)] = program_.digit_extents[static_cast<size_t>(digit)];
        }
      }
      for (const tensor::Access& access : nest.accesses) {
        if (!plan_.IsGlobal(access.buffer)) continue;
        all += TouchedBytes(program_, access, whole);
        of_wave += TouchedBytes(program_, access, wave);
      }
    }
    const auto room = static_cast<double>(gpu_.l2_bytes);
    estimate_.memory_bytes =
        all <= room ? 0
                    : std::max(all - room, std::min(waves * of_wave, estimate_.l2_bytes) - room);
  }

  // --- All together -----------------------------------------------------------------------------

  GpuKernelEstimate PutTogether() {
    const double clock = 1 / gpu_.clock_hertz;
    const double of_one = std::ceil(estimate_.blocks / gpu_.multiprocessors);
    estimate_.arithmetic = of_one * demand_.arithmetic * clock;
    estimate_.issue = of_one * demand_.issue * clock;
    estimate_.shared = of_one * kSharedPart * demand_.shared * clock;
    estimate_.cache =
        of_one * std::max(demand_.cache, demand_.l2_bytes / target::kGpuPortBytes) * clock;
    const double far_share =
        estimate_.l2_bytes > 0 ? std::min(1.0, estimate_.memory_bytes / estimate_.l2_bytes) : 0;
    const double far = gpu_.l2_latency + far_share * (gpu_.memory_latency - gpu_.l2_latency);
    const double computing = demand_.path + demand_.near_waits * gpu_.shared_latency;
    const double block_path =
        std::max(computing, demand_.copy_waits * far) + demand_.far_waits * far;
    estimate_.latency = std::ceil(of_one / estimate_.resident) * block_path * clock;
    estimate_.l2 =
        estimate_.l2_bytes / (gpu_.l2_bytes_a_clock * gpu_.multiprocessors * gpu_.clock_hertz);
    estimate_.memory = estimate_.memory_bytes / gpu_.memory_bytes_per_second;
    double longest = 0, sum = 0;
    for (const double part : {estimate_.arithmetic, estimate_.issue, estimate_.shared,
                              estimate_.cache, estimate_.latency, estimate_.l2, estimate_.memory}) {
      longest = std::max(longest, part);
      sum += part;
    }
    estimate_.seconds = gpu_.launch_seconds + longest + kNotOverlapped * (sum - longest);
    return estimate_;
  }

  const tensor::Program& program_;
  const plan::GpuPlan& plan_;
  const plan::KernelPlan& kernel_;
  const target::GpuMachine& gpu_;
  std::vector<GpuBlockNest> nests_;
  std::set<tensor::LoopId> meetings_;
  std::vector<std::optional<WarpWork>> products_;  ///< of each nest
  GpuKernelEstimate estimate_;
  BlockDemand demand_;
};

/// Steps that the threads of a block, or straight code, take together.
StepsTogether StepsOfThreads(const tensor::Program& program, const plan::GpuPlan& plan) {
  StepsTogether together;
  const auto note = [&](tensor::DigitId digit) { together[digit] = program.digit_extents[digit]; };
  for (size_t i = 0; i < program.loops.size(); ++i) {
    const tensor::Loop& loop = program.loops[i];
    const auto id = static_cast<tensor::LoopId>(i);
    if (!loop.alive) continue;
    if (tensor::IsThreadIndex(loop.kind) || plan.unrolled.contains(id) || plan.IsProduct(id)) {
      for (const tensor::DigitId digit : loop.digits) note(digit);
    }
  }
  for (const auto& [loop, vector] : plan.vector_loops) {
    for (const tensor::DigitId digit : vector.lanes) note(digit);
  }
  return together;
}

/// `run`: the program, or what a run takes of its steps.
std::vector<GpuKernelEstimate> EstimateKernelsOf(const tensor::Program& run,
                                                 const plan::GpuPlan& plan,
                                                 const target::GpuMachine& gpu,
                                                 std::span<const KernelRegisters> known) {
  std::vector<GpuKernelEstimate> estimates;
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    plan::KernelPlan kernel = plan.kernels[i];
    int64_t iterations = 1;
    for (const tensor::DigitId digit : kernel.GridDigits(run)) {
      iterations *= run.digit_extents[digit];
    }
    const int64_t share = kernel.grid >= 0 ? kernel.threads : 1;
    kernel.blocks = (iterations + share - 1) / share;
    estimates.push_back(KernelEstimator(run, plan, kernel, gpu)
                            .Estimate(i < known.size() ? known[i] : KernelRegisters{}));
  }
  return estimates;
}

double SecondsOf(const std::vector<GpuKernelEstimate>& kernels) {
  double seconds = 0;
  for (const GpuKernelEstimate& kernel : kernels) seconds += kernel.seconds;
  return seconds;
}

Result<plan::GpuPlan> PlanFor(const tensor::Program& program, const target::GpuMachine& gpu) {
  target::GpuLimits limits;
  limits.architecture = target::ArchitectureOf(gpu);
  return plan::PlanGpuKernels(program, limits);
}

}  // namespace

std::vector<GpuKernelEstimate> EstimateGpuKernels(const tensor::Program& program,
                                                  const target::GpuMachine& gpu,
                                                  std::span<const KernelRegisters> known) {
  const Result<plan::GpuPlan> plan = PlanFor(program, gpu);
  if (!plan) return {};
  return EstimateKernelsOf(program, *plan, gpu, known);
}

double EstimateGpuTime(const tensor::Program& program, const target::GpuMachine& gpu,
                       std::span<const KernelRegisters> known) {
  const Result<plan::GpuPlan> plan = PlanFor(program, gpu);
  if (!plan || plan->kernels.empty()) return std::numeric_limits<double>::infinity();
  if (program.points.empty()) return SecondsOf(EstimateKernelsOf(program, *plan, gpu, known));
  const StepsTogether together = StepsOfThreads(program, *plan);
  double logs = 0;
  for (const std::vector<int64_t>& sizes : program.points) {
    const tensor::Program run = ProgramOfRun(program, plan->open, together, sizes);
    logs += std::log(SecondsOf(EstimateKernelsOf(run, *plan, gpu, known)));
  }
  return std::exp(logs / static_cast<double>(program.points.size()));
}

}  // namespace bayloom::feature

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/measure_machine.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/quantile.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/gpu/gpu_description.h"
#include "bayloom/codegen/jit.h"
#include "bayloom/codegen/probe.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"
#include "bayloom/measure/host_caches.h"
#include "bayloom/measure/sample_programs.h"
#include "bayloom/measure/timing.h"

namespace bayloom::measure {
namespace {

constexpr int kRounds = 5, kMinRounds = 3, kMaxRounds = 10;
/// Of what busy rounds measured: the others only make it slower.
constexpr double kMinDisturbed = 0.25;
/// Threads work for so long at a time, in pieces that are too short for most of them to be
/// interrupted.
constexpr double kPeriodSeconds = 10e-3, kPieceSeconds = 30e-6;
constexpr int64_t kStreamedPieceBytes = int64_t{1} << 20;
/// The last cache must be this much faster than main memory.
constexpr double kFaster = 1.1;
constexpr int64_t kMinMemoryBytes = int64_t{64} << 20, kMaxMemoryBytes = int64_t{1} << 30;

int64_t PowerOfTwoWithin(double bytes) {
  int64_t power = 4096;
  while (2.0 * static_cast<double>(power) <= bytes) power *= 2;
  return power;
}

/// Memory for a probe to read, aligned to pages and written once.
class ProbeMemory {
 public:
  explicit ProbeMemory(int64_t bytes)
      : data_(static_cast<char*>(std::aligned_alloc(4096, static_cast<size_t>(bytes))),
              &std::free) {
    if (!data_) throw std::bad_alloc();
    std::fill_n(data_.get(), bytes, 0);
  }
  char* data() const { return data_.get(); }

 private:
  std::unique_ptr<char, decltype(&std::free)> data_;
};

/// Keeps the calling thread on one processor while it lives: on a busy machine, threads that were
/// just started stay where they were started.
class OnProcessor {
 public:
  explicit OnProcessor(int processor) {
    bound_ = sched_getaffinity(0, sizeof(before_), &before_) == 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    if (bound_) sched_setaffinity(0, sizeof(one), &one);
  }
  ~OnProcessor() {
    if (bound_) sched_setaffinity(0, sizeof(before_), &before_);
  }
  OnProcessor(const OnProcessor&) = delete;
  OnProcessor& operator=(const OnProcessor&) = delete;

 private:
  cpu_set_t before_;
  bool bound_ = false;
};

/// Seconds that pieces of work take while so many threads do one after the other, each on a
/// processor of its own as long as there are enough. `work` is called with the thread and the
/// piece's number.
std::vector<double> TimePieces(int threads, const std::function<void(int, int64_t)>& work) {
  const std::set<int> allowed = AllowedProcessors();
  const std::vector<int> processors(allowed.begin(), allowed.end());
  std::atomic<int> missing = threads;
  std::atomic<double> deadline = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> seconds(threads);
  const auto run = [&](int thread) {
    const OnProcessor here(processors[thread % processors.size()]);
    double now = base::MonotonicSeconds();
    if (--missing == 0) deadline = now + kPeriodSeconds;
    for (int64_t piece = 0; now < deadline || seconds[thread].empty(); ++piece) {
      work(thread, piece);
      const double end = base::MonotonicSeconds();
      if (missing == 0) seconds[thread].push_back(end - now);
      now = base::MonotonicSeconds();
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(run, t);
  run(0);
  for (std::thread& other : others) other.join();
  for (int t = 1; t < threads; ++t) {
    seconds[0].insert(seconds[0].end(), seconds[t].begin(), seconds[t].end());
  }
  return seconds[0];
}

/// Of the times of pieces: a thread alone is best timed where nothing disturbs it; of several, the
/// quickest pieces are those during which another one had lost its processor.
double TypicalSeconds(int threads, const std::vector<double>& pieces) {
  return base::Quantile(pieces, threads == 1 ? 0.1 : 0.5);
}

double BestOf(int timings, const std::function<double()>& time) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < timings; ++i) best = std::min(best, time());
  return best;
}

/// One probe, compiled.
class LoadedProbe {
 public:
  static Result<LoadedProbe> Make(codegen::Probe probe, const target::Target& target) {
    return Load(codegen::CompileProbe(probe, target, "probe"));
  }
  static Result<LoadedProbe> Make(const target::DotInstruction& instruction,
                                  const target::Target& target) {
    return Load(codegen::CompileDotProbe(instruction, target, "probe"));
  }

  /// Seconds of one of the operations that each of the threads does, each on its memory, of which
  /// it reads so many bytes (a power of two) over and over.
  double SecondsEach(const std::vector<char*>& memory, int64_t bytes) const {
    int64_t operations = codegen::kProbeOperations;
    double seconds = 0;
    for (; seconds < kPieceSeconds; operations *= 2) {
      const double start = base::MonotonicSeconds();
      Run(memory[0], operations, bytes);
      seconds = base::MonotonicSeconds() - start;
    }
    const auto threads = static_cast<int>(memory.size());
    const std::vector<double> pieces =
        TimePieces(threads, [&](int thread, int64_t) { Run(memory[thread], operations, bytes); });
    return TypicalSeconds(threads, pieces) / static_cast<double>(operations);
  }

  /// The same where memory is read from one end to the other, piece by piece.
  double SecondsEachStreaming(const std::vector<char*>& memory, int64_t bytes,
                              int64_t vector_bytes) const {
    const int64_t piece_bytes = std::min(bytes, kStreamedPieceBytes);
    const auto threads = static_cast<int>(memory.size());
    const std::vector<double> pieces = TimePieces(threads, [&](int thread, int64_t piece) {
      const int64_t offset = piece * piece_bytes % bytes;
      Run(memory[thread] + offset, piece_bytes / vector_bytes, piece_bytes);
    });
    return TypicalSeconds(threads, pieces) / static_cast<double>(piece_bytes / vector_bytes);
  }

 private:
  explicit LoadedProbe(codegen::LoadedKernel kernel) : kernel_(std::move(kernel)) {}

  static Result<LoadedProbe> Load(const Result<codegen::KernelObject>& object) {
    if (!object) return object.error();
    Result<codegen::LoadedKernel> kernel = codegen::LoadedKernel::Load(*object);
    if (!kernel) return kernel.error();
    return LoadedProbe(*std::move(kernel));
  }

  void Run(char* memory, int64_t operations, int64_t bytes) const {
    codegen::ProbeArguments arguments = {operations, bytes - 1};
    alignas(64) char result[256];
    void* parameters[] = {memory, &arguments, result};
    kernel_(parameters, nullptr);
  }

  codegen::LoadedKernel kernel_;
};

/// What is measured in every round, and where the median of its rounds goes.
struct Quantity {
  double* place;
  std::function<double()> measure;
};

/// While it lives, parallel loops run on so many threads.
class ParallelLoopsOn {
 public:
  explicit ParallelLoopsOn(int threads) : before_(bayloom_threads()) {
    bayloom_set_threads(threads);
  }
  ~ParallelLoopsOn() { bayloom_set_threads(before_); }
  ParallelLoopsOn(const ParallelLoopsOn&) = delete;
  ParallelLoopsOn& operator=(const ParallelLoopsOn&) = delete;

 private:
  int before_;
};

class MachineMeasurement {
 public:
  MachineMeasurement(const target::Target& target, LoadedProbe multiply_add, LoadedProbe chain,
                     LoadedProbe division, LoadedProbe read, SamplePrograms programs)
      : target_(target),
        multiply_add_(std::move(multiply_add)),
        chain_(std::move(chain)),
        division_(std::move(division)),
        read_(std::move(read)),
        programs_(std::move(programs)) {
    machine_.threads = target.cores;
    machine_.vector_bytes = target.vector_bytes;
    machine_.vector_registers = target::VectorRegisters(target);
    AddCaches();
    AddMemory();
  }

  MeasuredMachine Run(const StopCheck& stop) {
    const ParallelLoopsOn loops(machine_.threads);
    const std::vector<Quantity> quantities = Quantities();
    std::vector<Round> quiet, busy;
    while (quiet.size() < kRounds && quiet.size() + busy.size() < kMaxRounds) {
      Round round = MeasureRound(quantities, stop);
      (IsBusy(round.load, machine_.threads) ? busy : quiet).push_back(std::move(round));
    }
    const bool disturbed = quiet.size() < kMinRounds;
    const std::vector<Round>& rounds = disturbed ? busy : quiet;
    for (size_t i = 0; i < quantities.size(); ++i) {
      std::vector<double> values;
      for (const Round& round : rounds) values.push_back(round.values[i]);
      *quantities[i].place = base::Quantile(values, disturbed ? kMinDisturbed : 0.5);
    }
    machine_.compile = programs_.compile_seconds();
    MeasuredMachine measured = {PutRight(std::move(machine_))};
    if (disturbed) measured.disturbed = busy.back().load;
    return measured;
  }

 private:
  struct Round {
    std::vector<double> values;  ///< parallel to the quantities
    MachineLoad load;            ///< by others, while they were measured
  };

  Round MeasureRound(const std::vector<Quantity>& quantities, const StopCheck& stop) const {
    const LoadMonitor monitor({.threads = machine_.threads});
    Round round;
    for (const Quantity& quantity : quantities) {
      ThrowIfStopped(stop);
      round.values.push_back(quantity.measure());
    }
    round.load = monitor.SinceBegin();
    return round;
  }

  /// What to read to find a level's rate: `alone` by one thread, `together` by each.
  struct Footprint {
    int64_t alone, together;
  };

  void AddCaches() {
    std::vector<HostCache> caches = HostCaches(AllowedProcessors());
    if (caches.size() < 2) caches = {{1, target_.l1_bytes, 1}, {2, target_.l2_bytes, 1}};
    for (const HostCache& cache : caches) {
      const int64_t share = cache.bytes / std::min(cache.sharers, machine_.threads);
      machine_.levels.push_back({share, {}});
      footprints_.push_back({PowerOfTwoWithin(0.75 * static_cast<double>(share)),
                             PowerOfTwoWithin(0.75 * static_cast<double>(share))});
      largest_cache_ = std::max(largest_cache_, cache.bytes);
    }
  }

  void AddMemory() {
    const auto several_times = [](int64_t bytes) {
      return std::clamp(2 * PowerOfTwoWithin(2.0 * static_cast<double>(bytes)), kMinMemoryBytes,
                        kMaxMemoryBytes);
    };
    const int64_t share = machine_.levels.back().bytes;
    machine_.levels.push_back({0, {}});
    footprints_.push_back({several_times(largest_cache_), several_times(share)});
    for (int thread = 0; thread < machine_.threads; ++thread) {
      const Footprint& most = footprints_.back();
      memory_.emplace_back(thread == 0 ? std::max(most.alone, most.together) : most.together);
    }
  }

  std::vector<char*> MemoryOf(int threads) const {
    std::vector<char*> memory;
    for (int thread = 0; thread < threads; ++thread) memory.push_back(memory_[thread].data());
    return memory;
  }

  std::vector<Quantity> Quantities() {
    const std::vector<char*> one = MemoryOf(1), all = MemoryOf(machine_.threads);
    std::vector<Quantity> quantities = {
        {&machine_.multiply_add.alone, [=, this] { return multiply_add_.SecondsEach(one, 1); }},
        {&machine_.multiply_add.together,
         [=, this] { return multiply_add_.SecondsEach(all, 1) / machine_.threads; }},
        {&machine_.multiply_add_latency, [=, this] { return chain_.SecondsEach(one, 1); }},
        {&machine_.division, [=, this] { return division_.SecondsEach(one, 1); }},
        {&machine_.transcendental, [this] { return programs_.TranscendentalSeconds(); }},
        {&machine_.fork_join, [this] { return ForkJoinSeconds(); }},
        {&machine_.job, [this] { return JobSeconds(); }},
    };
    for (size_t i = 0; i < machine_.levels.size(); ++i) {
      target::IssueInterval& line = machine_.levels[i].line;
      const Footprint footprint = footprints_[i];
      const bool is_memory = i + 1 == machine_.levels.size();
      quantities.push_back(
          {&line.alone, [=, this] { return LineSeconds(one, footprint.alone, is_memory); }});
      quantities.push_back({&line.together, [=, this] {
                              return LineSeconds(all, footprint.together, is_memory) /
                                     machine_.threads;
                            }});
    }
    return quantities;
  }

  double LineSeconds(const std::vector<char*>& memory, int64_t bytes, bool is_memory) const {
    const double per_line = target::kLineBytes / target_.vector_bytes;
    return per_line * (is_memory ? read_.SecondsEachStreaming(memory, bytes, target_.vector_bytes)
                                 : read_.SecondsEach(memory, bytes));
  }

  /// Of an empty parallel loop.
  static double EmptyLoopSeconds(int64_t jobs) {
    constexpr int kRepeats = 10, kLoops = 100;
    const auto nothing = [](void*, int64_t, int64_t, int32_t) {};
    return BestOf(kRepeats, [&] {
      const double start = base::MonotonicSeconds();
      for (int i = 0; i < kLoops; ++i) bayloom_parallel_for(jobs, nothing, nullptr);
      return (base::MonotonicSeconds() - start) / kLoops;
    });
  }

  /// Of a parallel loop whose jobs, one for each thread, wait until all of them have begun: so no
  /// thread does all of them, as it would while the others get no processor. Where they never meet,
  /// of an empty loop.
  double ForkJoinSeconds() const {
    struct Meeting {
      std::atomic<int64_t> missing;
      double deadline;
    };
    const auto meet = [](void* context, int64_t begin, int64_t end, int32_t) {
      auto& meeting = *static_cast<Meeting*>(context);
      meeting.missing -= end - begin;
      while (meeting.missing > 0 && base::MonotonicSeconds() < meeting.deadline) {
      }
    };
    const auto time = [&](double patience) {
      const double start = base::MonotonicSeconds();
      Meeting meeting{machine_.threads, start + patience};
      bayloom_parallel_for(machine_.threads, meet, &meeting);
      const double end = base::MonotonicSeconds();
      return end < meeting.deadline ? end - start : std::numeric_limits<double>::infinity();
    };
    // On a busy machine the system takes its time to give every thread a processor.
    constexpr int kLongWaits = 10, kLoops = 300;
    for (int i = 0; i < kLongWaits && !std::isfinite(time(kPeriodSeconds)); ++i) {
    }
    const double met = BestOf(kLoops, [&] { return time(3 * kPieceSeconds); });
    return std::isfinite(met) ? met : EmptyLoopSeconds(machine_.threads);
  }

  /// How much longer a loop of many jobs takes than one of few, by job.
  double JobSeconds() const {
    constexpr int64_t kJobsEach = 256;
    const int64_t few = machine_.threads, many = kJobsEach * machine_.threads;
    return std::max(0.0, EmptyLoopSeconds(many) - EmptyLoopSeconds(few)) /
           static_cast<double>(many - few);
  }

  static target::MachineModel PutRight(target::MachineModel machine) {
    const auto alone_not_slower = [&](target::IssueInterval& interval) {
      interval.alone = std::min(interval.alone, interval.together * machine.threads);
      interval.together = std::max(interval.together, interval.alone / machine.threads);
    };
    std::vector<target::MemoryLevel>& levels = machine.levels;
    for (size_t i = levels.size(); i-- > 0; alone_not_slower(levels[i].line)) {
      if (i + 1 == levels.size()) continue;
      const target::IssueInterval& behind = levels[i + 1].line;
      levels[i].line.alone = std::min(levels[i].line.alone, behind.alone);
      levels[i].line.together = std::min(levels[i].line.together, behind.together);
    }
    const target::IssueInterval& last_cache = levels[levels.size() - 2].line;
    const bool is_cache = kFaster * last_cache.alone < levels.back().line.alone ||
                          kFaster * last_cache.together < levels.back().line.together;
    if (!is_cache && levels.size() > 2) levels.erase(levels.end() - 2);
    alone_not_slower(machine.multiply_add);
    machine.vector_load = levels[0].line.alone * machine.vector_bytes / target::kLineBytes;
    const double multiply_add = machine.multiply_add.alone;
    for (double* longer :
         {&machine.multiply_add_latency, &machine.division, &machine.transcendental}) {
      *longer = std::max(*longer, multiply_add);
    }
    return machine;
  }

  const target::Target& target_;
  LoadedProbe multiply_add_, chain_, division_, read_;
  SamplePrograms programs_;
  target::MachineModel machine_;
  std::vector<Footprint> footprints_;  ///< parallel to the machine's levels
  std::vector<ProbeMemory> memory_;    ///< one for each thread
  int64_t largest_cache_ = 0;
};

/// Fails where the target's code cannot run here.
Status CheckRunsHere(const target::Target& target) {
  const std::optional<std::string> missing = codegen::MissingFeature(target);
  if (!missing) return Ok();
  return Error{fmt::format("{} is not this machine, which has no {}", target.name, *missing)};
}

}  // namespace

Result<MeasuredMachine> MeasureMachine(const target::Target& target, const StopCheck& stop) {
  if (const Status here = CheckRunsHere(target); !here) return here.error();
  std::vector<LoadedProbe> probes;
  for (codegen::Probe probe : {codegen::Probe::kMultiplyAdd, codegen::Probe::kMultiplyAddChain,
                               codegen::Probe::kDivision, codegen::Probe::kRead}) {
    Result<LoadedProbe> loaded = LoadedProbe::Make(probe, target);
    if (!loaded) return loaded.error();
    probes.push_back(*std::move(loaded));
  }
  Result<SamplePrograms> programs = SamplePrograms::Compile(target);
  if (!programs) return programs.error();
  return MachineMeasurement(target, std::move(probes[0]), std::move(probes[1]),
                            std::move(probes[2]), std::move(probes[3]), *std::move(programs))
      .Run(stop);
}

Result<DotPeaks> MeasureDotPeaks(const target::Target& target, const WorkloadDemand& demand) {
  if (target.kind() == target::TargetKind::kNvidiaGpu) {
    const Result<MeasuredMachine> machine = MeasuredMachineOf(target);
    if (!machine) return machine.error();
    return NominalDotPeaks(target, machine->model, demand);
  }
  if (const Status here = CheckRunsHere(target); !here) return here.error();
  DotPeaks peaks;
  for (const auto& [types, flops] : demand.dot_flops) {
    const auto method =
        target::DotMethodFor(target, tensor::ToString(types.first), tensor::ToString(types.second));
    if (!method) continue;
    const target::DotInstruction& instruction = *method->instruction;
    Result<LoadedProbe> probe = LoadedProbe::Make(instruction, target);
    if (!probe) return probe.error();
    std::vector<double> rounds;
    for (int round = 0; round < kRounds; ++round) {
      rounds.push_back(probe->SecondsEach(std::vector<char*>(target.cores, nullptr), 1));
    }
    const double lanes = target.vector_bytes / 4.0;
    const double slower = static_cast<double>(method->Operations()) / instruction.operations;
    peaks[types] = 2 * lanes * instruction.depth * target.cores / base::Median(rounds) / slower;
  }
  return peaks;
}

Result<MeasuredMachine> MeasuredMachineOf(const target::Target& target, const StopCheck& stop) {
  if (target.machine) return MeasuredMachine{*target.machine};
  if (target.kind() == target::TargetKind::kNvidiaGpu) {
    const Result<codegen::GpuDescription> gpu = codegen::DescribeGpu();
    if (!gpu) return gpu.error();
    return MeasuredMachine{codegen::MachineOf(*gpu)};
  }
  return MeasureMachine(target, stop);
}

}  // namespace bayloom::measure

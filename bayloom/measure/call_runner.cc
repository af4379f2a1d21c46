// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// How the runner process runs kernels of users (TrialRunner).

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "bayloom/measure/flush_caches.h"
#include "bayloom/measure/heap_bytes.h"
#include "bayloom/measure/trial_runner.h"

namespace bayloom::measure {
namespace {

// A kernel that allocates something in each of so many runs, and so much in all, and keeps it.
constexpr int64_t kLeakRuns = 20;
constexpr int64_t kLeakBytesOfRun = 16;
constexpr int64_t kLeakBytes = 64 << 10;
/// Allocators hand out memory in stocks, and threads make theirs: what leaks does so again and
/// again, in each of several turns of at most so many runs.
constexpr int kLeakTurns = 3;
constexpr int64_t kMaxLeakRuns = 256;

bool SeemsToLeak(int64_t bytes, int64_t runs) {
  return runs >= kLeakRuns && bytes >= kLeakBytes && bytes >= kLeakBytesOfRun * runs;
}

bool LeaksAgain(KernelLauncher& launcher, int64_t runs) {
  const int64_t count = std::min(runs, kMaxLeakRuns);
  for (int turn = 0; turn < kLeakTurns; ++turn) {
    const int64_t before = HeapBytes();
    launcher.Time(count);
    if (HeapBytes() - before < kLeakBytesOfRun * count) return false;
  }
  return true;
}

}  // namespace

void TrialRunner::Restore(KernelLauncher& launcher, size_t position) {
  launcher.BeginWriting(position);
  std::memcpy(memory_[position].data(), data_ + task_.parameters[position].initial_offset,
              static_cast<size_t>(memory_[position].size()));
  launcher.EndWriting(position);
}

void TrialRunner::FillForCall(KernelLauncher& launcher, std::byte value) {
  for (size_t i = 0; i < memory_.size(); ++i) {
    const TaskParameter& parameter = task_.parameters[i];
    if (parameter.role != tensor::BufferRole::kOutput) continue;
    if (parameter.initial_offset >= 0) {
      Restore(launcher, i);
      continue;
    }
    launcher.BeginWriting(i);
    memory_[i].Fill(value);
    launcher.EndWriting(i);
  }
}

void TrialRunner::Download(KernelLauncher& launcher) {
  for (size_t i = 0; i < memory_.size(); ++i) {
    if (task_.parameters[i].role == tensor::BufferRole::kOutput) launcher.Download(i);
  }
}

std::vector<size_t> TrialRunner::ChangedOutputs() const {
  std::vector<size_t> changed;
  for (size_t i = 0; i < memory_.size(); ++i) {
    const int64_t initial = task_.parameters[i].initial_offset;
    if (initial < 0) continue;
    const auto bytes = static_cast<size_t>(memory_[i].size());
    if (std::memcmp(memory_[i].data(), data_ + initial, bytes) != 0) changed.push_back(i);
  }
  return changed;
}

OutcomeMessage TrialRunner::RunCall(const TrialMessage& trial) try {
  using Phase = CrashNote::Phase;
  note_.phase = Phase::kLoading;
  workspace_ = GuardedMemory();
  Watch();
  const std::unique_ptr<KernelLauncher> launcher = MakeLauncher(trial.call, memory_);
  note_.phase = Phase::kPreparing;
  FillForCall(*launcher, kPoison);
  note_.phase = Phase::kFirstRun;
  const double first_seconds = launcher->Time(1);
  Download(*launcher);
  OutcomeMessage outcome;
  outcome.seconds = first_seconds;
  if (trial.is_reference) {
    StoreExpected(0);
    return outcome;
  }
  if (const Status right = CheckResults(); !right) return WrongOutput(0, "", right.error());
  return TimeCall(trial, first_seconds, *launcher);
} catch (const LaunchError& error) {
  return OutcomeMessage::Failure(error.verdict(), error.what());
}

OutcomeMessage TrialRunner::TimeCall(const TrialMessage& trial, double first_seconds,
                                     KernelLauncher& launcher) {
  // What a run changes and reads has to be as it was before every run.
  const std::vector<size_t> changed = ChangedOutputs();
  FillForCall(launcher, std::byte{0});
  TimingOptions options = trial.timing;
  options.single_runs = !changed.empty();
  note_.phase = CrashNote::Phase::kTiming;
  const int64_t heap_bytes = HeapBytes();
  const Timing timing = TimeBatches(
      first_seconds, trial.cut_seconds,
      [&](int64_t count) {
        for (const size_t position : changed) Restore(launcher, position);
        if (options.flush_cache) FlushCaches();
        return launcher.Time(count);
      },
      options);
  const int64_t kept_bytes = HeapBytes() - heap_bytes;
  Download(launcher);
  if (timing.runs > 0) {
    // From another start than the first: results that depend on what was there, or on luck, show.
    if (const Status right = CheckResults(); !right) {
      return WrongOutput(0, "in a later run, ", right.error());
    }
  }
  if (trial.call.kind == KernelCall::Kind::kFunction && SeemsToLeak(kept_bytes, timing.runs) &&
      LeaksAgain(launcher, timing.runs)) {
    return OutcomeMessage::Failure(
        trial::Verdict::kMemory,
        fmt::format("leaks memory: {} bytes in {} runs", kept_bytes, timing.runs));
  }
  if (!trial::IsTime(timing.seconds)) {
    return OutcomeMessage::Failure(
        trial::Verdict::kInvalidAnswer,
        fmt::format("the function returned {:g} s as the time that it took", timing.seconds));
  }
  OutcomeMessage outcome;
  outcome.seconds = timing.seconds;
  outcome.spread = timing.spread;
  outcome.cut_short = timing.cut_short;
  outcome.batches = timing.batches;
  return outcome;
}

}  // namespace bayloom::measure

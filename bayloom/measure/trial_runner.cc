// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/trial_runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/quantile.h"
#include "bayloom/codegen/jit.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"
#include "bayloom/codegen/subnormals.h"
#include "bayloom/measure/flush_caches.h"
#include "bayloom/tensor/interpreter.h"

namespace bayloom::measure {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Enough to see whether a program is far from the best.
constexpr TimingOptions kBriefTiming{
    .min_batch_seconds = 100e-6, .min_total_seconds = 0, .min_batches = 1, .max_total_seconds = 0};

/// How many there are, also where others lie between them.
int64_t ElementsOf(const TaskParameter& parameter) {
  int64_t count = 1;
  for (const int64_t extent : parameter.extents.empty() ? parameter.shape : parameter.extents) {
    count *= extent;
  }
  return count;
}

const char* RoleName(tensor::BufferRole role) {
  switch (role) {
    case tensor::BufferRole::kInput:
      return "input";
    case tensor::BufferRole::kConstant:
      return "constant";
    case tensor::BufferRole::kSize:
      return "size";
    default:
      return "output";
  }
}

GuardedMemory MemoryFor(const TaskParameter& parameter, int64_t bytes) {
  return {fmt::format("{} '{}'", RoleName(parameter.role), parameter.name), bytes};
}

}  // namespace

TrialRunner::~TrialRunner() { DropTask(); }

void TrialRunner::DropTask() {
  SetWatchedMemory({});
  memory_.clear();
  packed_.clear();
  contents_.clear();
  copied_.clear();
  constant_copies_.Drop();
  workspace_ = GuardedMemory();
  if (data_) munmap(const_cast<std::byte*>(data_), static_cast<size_t>(task_.data_bytes));
  if (data_descriptor_ >= 0) close(data_descriptor_);
  data_ = nullptr;
  data_descriptor_ = -1;
}

OutcomeMessage TrialRunner::SetTask(TaskMessage task, int data_descriptor) {
  note_.phase = CrashNote::Phase::kPreparing;
  DropTask();
  task_ = std::move(task);
  data_descriptor_ = data_descriptor;
  void* data = mmap(nullptr, static_cast<size_t>(task_.data_bytes), PROT_READ, MAP_SHARED,
                    data_descriptor, 0);
  if (data == MAP_FAILED) {
    return OutcomeMessage::Failure(trial::Verdict::kMemory,
                                   "the task's data does not fit into the memory limit");
  }
  data_ = static_cast<const std::byte*>(data);
  packed_.resize(task_.parameters.size());
  try {
    for (const TaskParameter& parameter : task_.parameters) {
      memory_.push_back(MemoryFor(parameter, parameter.ByteCount()));
      contents_.push_back(++last_content_);
      if (parameter.role != tensor::BufferRole::kInput &&
          parameter.role != tensor::BufferRole::kSize) {
        continue;
      }
      std::memcpy(memory_.back().data(), DataOf(parameter),
                  static_cast<size_t>(parameter.ByteCount()));
      memory_.back().ProtectFromWrites();
    }
  } catch (const std::bad_alloc&) {
    return OutcomeMessage::Failure(trial::Verdict::kMemory,
                                   "the task's data does not fit into the memory limit");
  }
  note_.phase = CrashNote::Phase::kIdle;
  return {};
}

void TrialRunner::PackConstants(const TrialMessage& trial) {
  for (size_t i = 0; i < memory_.size(); ++i) {
    const TaskParameter& parameter = task_.parameters[i];
    if (parameter.role != tensor::BufferRole::kConstant) continue;
    ConstantForm form{trial.layouts.at(i), trial.transforms.at(i)};
    if (packed_[i] == form) continue;
    packed_[i].reset();
    tensor::Buffer buffer;
    buffer.name = parameter.name;
    buffer.dtype = parameter.dtype;
    buffer.shape = parameter.shape;
    buffer.role = parameter.role;
    buffer.layout = form.layout;
    if (!form.transform.source_shape.empty()) {
      buffer.shape = form.transform.Shape();
      buffer.transform = std::make_shared<const tensor::ConstantTransform>(form.transform);
    }
    PackConstant(i, buffer);
    packed_[i] = std::move(form);
  }
}

void TrialRunner::PackConstant(size_t position, const tensor::Buffer& form) {
  GuardedMemory& memory = memory_[position];
  const int64_t bytes = form.ElementCount() * tensor::ByteSize(form.dtype);
  if (memory.size() != bytes) {
    memory = GuardedMemory();
    memory = MemoryFor(task_.parameters[position], bytes);
  }
  memory.AllowWrites();
  tensor::PackLayout(form, DataOf(task_.parameters[position]), memory.data());
  memory.ProtectFromWrites();
  contents_[position] = ++last_content_;
}

void TrialRunner::CopyConstants() {
  if (copied_ == contents_) return;
  copied_.clear();
  std::vector<ConstantCopies::Constant> constants;
  for (size_t i = 0; i < memory_.size(); ++i) {
    if (task_.parameters[i].role != tensor::BufferRole::kConstant) continue;
    constants.push_back({i, memory_[i].data(), memory_[i].size()});
  }
  constant_copies_.Copy(constants);
  copied_ = contents_;
}

void TrialRunner::Watch() {
  std::vector<const GuardedMemory*> watched = {&workspace_};
  for (const GuardedMemory& memory : memory_) watched.push_back(&memory);
  SetWatchedMemory(watched);
}

void TrialRunner::SetPoint(size_t point) {
  const std::vector<int64_t>& sizes = task_.points[point];
  for (size_t s = 0; s < sizes.size(); ++s) {
    memory_[s].AllowWrites();
    std::memcpy(memory_[s].data(), &sizes[s], sizeof sizes[s]);
    memory_[s].ProtectFromWrites();
  }
}

void TrialRunner::FillResults(std::byte value) {
  if (workspace_.size() > 0) workspace_.Fill(value);
  for (size_t i = 0; i < memory_.size(); ++i) {
    if (task_.parameters[i].role != tensor::BufferRole::kOutput) continue;
    memory_[i].Fill(task_.parameters[i].has_gaps ? kPoison : value);
  }
}

Status TrialRunner::CheckResults(size_t point) const {
  if (Status status = workspace_.CheckOverrun(); !status) return status;
  for (size_t i = 0; i < memory_.size(); ++i) {
    if (Status status = memory_[i].CheckOverrun(); !status) return status;
    const TaskParameter& parameter = task_.parameters[i];
    if (parameter.role != tensor::BufferRole::kOutput || !parameter.is_checked) continue;
    if (Status status = CheckResult(i, point); !status) return status;
  }
  return Ok();
}

Status TrialRunner::CheckResult(size_t position, size_t point) const {
  const TaskParameter& parameter = task_.parameters[position];
  const std::byte* const actual = memory_[position].data();
  const std::byte* const expected = ExpectedOf(parameter, point);
  const std::vector<ElementSpan> spans = ElementsWithin(parameter, task_.points[point]);
  int64_t count = 0;
  for (const ElementSpan& span : spans) count += span.count;
  // With the largest lengths nothing lies beyond bounds: what is between rows is compared, too.
  if (count == ElementsOf(parameter)) {
    return CheckOutput(parameter.name, parameter.dtype, actual, expected, parameter.ElementCount(),
                       task_.tolerance);
  }
  const auto within = [&](const std::byte* memory) {
    const int64_t bytes = tensor::ByteSize(parameter.dtype);
    std::vector<std::byte> elements;
    elements.reserve(static_cast<size_t>(count * bytes));
    for (const ElementSpan& span : spans) {
      elements.insert(elements.end(), memory + span.first * bytes,
                      memory + (span.first + span.count) * bytes);
    }
    return elements;
  };
  return CheckOutput(parameter.name, parameter.dtype, within(actual).data(),
                     within(expected).data(), count, task_.tolerance);
}

std::vector<std::byte> TrialRunner::Results() const {
  std::vector<std::byte> results;
  for (size_t i = 0; i < memory_.size(); ++i) {
    if (task_.parameters[i].role != tensor::BufferRole::kOutput) continue;
    results.insert(results.end(), memory_[i].data(), memory_[i].data() + memory_[i].size());
  }
  return results;
}

void TrialRunner::StoreExpected(size_t point) {
  const auto size = static_cast<size_t>(task_.data_bytes);
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, data_descriptor_, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  for (size_t i = 0; i < memory_.size(); ++i) {
    const TaskParameter& parameter = task_.parameters[i];
    if (parameter.role != tensor::BufferRole::kOutput) continue;
    const int64_t offset = parameter.offset + static_cast<int64_t>(point) * task_.result_bytes;
    std::copy_n(memory_[i].data(), memory_[i].size(), static_cast<std::byte*>(data) + offset);
  }
  munmap(data, size);
}

OutcomeMessage TrialRunner::Run(const TrialMessage& trial) {
  try {
    OutcomeMessage outcome = trial.call.kind != KernelCall::Kind::kNone ? RunCall(trial)
                             : trial.kernel.launches.empty()            ? RunLoaded(trial)
                                                                        : RunOnGpu(trial);
    note_.phase = CrashNote::Phase::kIdle;
    return outcome;
  } catch (const std::bad_alloc&) {
    return OutcomeMessage::Failure(
        trial::Verdict::kMemory,
        fmt::format("its data and workspace of {:.1f} MB do not fit into the memory limit",
                    static_cast<double>(trial.kernel.WorkspaceBytes(trial.threads)) / 1e6));
  }
}

OutcomeMessage TrialRunner::RunLoaded(const TrialMessage& trial) {
  using Phase = CrashNote::Phase;
  note_.phase = Phase::kLoading;
  Result<codegen::LoadedKernel> kernel = codegen::LoadedKernel::Load(trial.kernel);
  if (!kernel) return OutcomeMessage::Failure(trial::Verdict::kBuildError, kernel.error().message);

  note_.phase = Phase::kPreparing;
  PackConstants(trial);
  const int64_t workspace_bytes = trial.kernel.WorkspaceBytes(trial.threads);
  if (workspace_.size() != workspace_bytes) {
    workspace_ = GuardedMemory();
    if (workspace_bytes > 0) workspace_ = GuardedMemory("the workspace", workspace_bytes);
  }
  Watch();
  std::vector<void*> parameters;
  for (const GuardedMemory& memory : memory_) parameters.push_back(memory.data());
  const auto run = [&] { (*kernel)(parameters.data(), workspace_.data()); };
  bayloom_set_threads(trial.threads);
  const codegen::SubnormalsAreZeros flushed;

  std::vector<double> first_seconds;
  for (size_t point = 0; point < task_.points.size(); ++point) {
    SetPoint(point);
    FillResults(kPoison);
    note_.phase = Phase::kFirstRun;
    const double start = base::MonotonicSeconds();
    run();
    first_seconds.push_back(base::MonotonicSeconds() - start);
    if (trial.is_reference) {
      StoreExpected(point);
    } else if (const Status right = CheckResults(point); !right) {
      return WrongOutput(point, "", right.error());
    }
  }
  if (!trial.is_reference) {
    note_.phase = Phase::kPreparing;
    if (task_.has_cold_constants) CopyConstants();
    const auto run_cold = [&] {
      constant_copies_.Next(parameters);
      run();
    };
    const RunsAtPoints runs = {[&](size_t point) { SetPoint(point); },
                               [&](std::byte value) { FillResults(value); },
                               [&](size_t point, double cut_seconds, const TimingOptions& options) {
                                 return TimeRuns(first_seconds[point], cut_seconds, run_cold,
                                                 base::MonotonicSeconds, FlushCaches, options);
                               },
                               [&](size_t point) { return CheckResults(point); }};
    return TimePoints(trial, runs);
  }
  OutcomeMessage outcome;
  first_seconds.resize(static_cast<size_t>(task_.timed));
  outcome.seconds = base::GeometricMean(first_seconds);
  return outcome;
}

OutcomeMessage TrialRunner::WrongOutput(size_t point, const std::string& when,
                                        const Error& error) const {
  const std::vector<int64_t>& sizes = task_.points[point];
  std::string where;
  if (!sizes.empty()) where = fmt::format(" (sizes {})", fmt::join(sizes, ", "));
  return OutcomeMessage::Failure(trial::Verdict::kWrongOutput, when + error.message + where);
}

OutcomeMessage TrialRunner::TimePoints(const TrialMessage& trial, const RunsAtPoints& runs) {
  note_.phase = CrashNote::Phase::kTiming;
  const auto count = static_cast<size_t>(task_.timed);
  OutcomeMessage outcome;
  double cut_seconds = trial.cut_seconds;
  if (count > 1) {
    // The limit is one for all points together: a few runs at each say where the program is.
    for (size_t point = 0; point < count; ++point) {
      runs.set(point);
      outcome.point_seconds.push_back(runs.time(point, kNever, kBriefTiming).seconds);
    }
    outcome.seconds = base::GeometricMean(outcome.point_seconds);
    outcome.cut_short = outcome.seconds > trial.cut_seconds;
    if (outcome.cut_short) return outcome;
    cut_seconds = kNever;
    outcome.point_seconds.clear();
  }
  TimingOptions options = trial.timing;
  options.min_total_seconds /= static_cast<double>(count);
  options.max_total_seconds /= static_cast<double>(count);
  std::vector<double> seconds;
  for (size_t point = 0; point < count; ++point) {
    runs.set(point);
    // From another start than the first: results that depend on what was there, or on luck, show.
    runs.fill(std::byte{0});
    const Timing timing = runs.time(point, cut_seconds, options);
    if (timing.runs > 0) {
      if (const Status right = runs.check(point); !right) {
        return WrongOutput(point, "in a later run, ", right.error());
      }
    }
    seconds.push_back(timing.seconds);
    outcome.spread = std::max(outcome.spread, timing.spread);
    outcome.cut_short = timing.cut_short;
  }
  outcome.seconds = base::GeometricMean(seconds);
  if (count > 1) outcome.point_seconds = std::move(seconds);
  return outcome;
}

OutcomeMessage TrialRunner::RunOnGpu(const TrialMessage& trial) try {
  using Phase = CrashNote::Phase;
  note_.phase = Phase::kPreparing;
  PackConstants(trial);
  if (!gpu_) gpu_ = std::make_unique<GpuSession>();
  note_.phase = Phase::kLoading;
  std::vector<GpuBuffer> buffers;
  for (size_t i = 0; i < memory_.size(); ++i) {
    const bool is_output = task_.parameters[i].role == tensor::BufferRole::kOutput;
    buffers.push_back(
        {memory_[i].name(), memory_[i].data(), memory_[i].size(), is_output, contents_[i]});
  }
  GpuSession::Kernel kernel = gpu_->Load(trial.kernel, buffers);
  std::vector<double> first_seconds;
  std::vector<std::vector<std::byte>> right_results;  // by point
  const RunsAtPoints runs = {
      [&](size_t point) {
        SetPoint(point);
        const std::vector<int64_t>& sizes = task_.points[point];
        for (size_t s = 0; s < sizes.size(); ++s) {
          buffers[s].content = contents_[s] = ++last_content_;
        }
        gpu_->SetSizes(kernel, buffers, sizes);
      },
      [&](std::byte value) {
        for (size_t i = 0; i < buffers.size(); ++i) {
          if (!buffers[i].is_output) continue;
          gpu_->Fill(i, task_.parameters[i].has_gaps ? kPoison : value);
        }
        gpu_->FillWorkspace(value);
      },
      [&](size_t point, double cut_seconds, const TimingOptions& options) {
        return TimeBatches(
            first_seconds[point], cut_seconds,
            [&](int64_t times) { return gpu_->TimeLaunches(kernel, times, options.flush_cache); },
            options);
      },
      [&](size_t point) -> Status {
        Status status = gpu_->CheckOverrun(buffers);
        if (status) gpu_->Download(buffers);
        // Comparing bytes is several times faster than comparing numbers.
        const bool is_known = point < right_results.size();
        if (status && is_known && Results() == right_results[point]) return status;
        if (status) status = CheckResults(point);
        if (!status) gpu_->Free();
        return status;
      }};
  workspace_ = GuardedMemory();
  for (size_t point = 0; point < task_.points.size(); ++point) {
    runs.set(point);
    runs.fill(kPoison);
    note_.phase = Phase::kFirstRun;
    first_seconds.push_back(gpu_->TimeLaunches(kernel, 1, false));
    if (const Status right = runs.check(point); !right) {
      return WrongOutput(point, "", right.error());
    }
    right_results.push_back(Results());
  }
  OutcomeMessage outcome = TimePoints(trial, runs);
  if (outcome.verdict != trial::Verdict::kOk) return outcome;
  outcome.clock_mhz = gpu_->state().clock_mhz;
  outcome.power_watts = gpu_->state().power_watts;
  outcome.registers = kernel.use.registers;
  outcome.spill_bytes = static_cast<double>(kernel.use.spill_bytes);
  return outcome;
} catch (const GpuError& error) {
  if (gpu_) gpu_->Free();  // inputs may not have arrived
  return OutcomeMessage::Failure(error.verdict(), error.what());
}

}  // namespace bayloom::measure

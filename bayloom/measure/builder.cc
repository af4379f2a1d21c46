// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/builder.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <thread>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::measure {
namespace {

/// What tables the compiler makes when it is first used, it makes here.
void UseCompilerOnce(const target::Target& target) {
  tensor::WorkloadBuilder builder("warm_up");
  const tensor::Tensor x = builder.Input("x", {16});
  const tensor::Tensor y =
      builder.Compute("y", {16}, [&](const auto& i) { return x(i[0]) + x(i[0]); });
  (void)codegen::CompileProgram(tensor::Lower(builder.Build({y})), target, "warm_up");
}

/// Whether the device need not be asked; then there is no kernel.
bool Refuse(const ResourceUsage& use, Build& build) {
  std::optional<std::string> refusal = RefusalOf(use);
  if (!refusal) return false;
  build.kernel.reset();
  build.verdict = trial::Verdict::kMemory;
  build.error = *std::move(refusal);
  build.use = use;
  return true;
}

/// What the program's constants take more than those of the caller.
int64_t GrowthBytes(const tensor::Program& program) {
  int64_t bytes = 0;
  for (const tensor::BufferId id : program.Parameters()) {
    const tensor::Buffer& buffer = program.buffers[id];
    if (buffer.role != tensor::BufferRole::kConstant) continue;
    const std::vector<int64_t>& caller = buffer.CallerShape();
    const int64_t elements =
        std::accumulate(caller.begin(), caller.end(), int64_t{1}, std::multiplies<>());
    bytes += (buffer.ElementCount() - elements) * tensor::ByteSize(buffer.dtype);
  }
  return bytes;
}

/// Programs being compiled by several workers.
class Batch {
 public:
  Batch(std::span<const tensor::Program* const> programs, const BuilderOptions& options,
        const StopCheck& stop)
      : programs_(programs), options_(options), stop_(stop), queue_(Must(BuildQueue::Make())) {
    builds_.resize(programs.size());
    for (Build& build : builds_) build.error = "the compiler ended before it began";
  }

  std::vector<Build> Run() {
    const size_t workers = std::min<size_t>(options_.threads, programs_.size());
    while (workers_.size() < workers) workers_.push_back(Start());
    while (!workers_.empty()) {
      ThrowIfStopped(stop_);
      Wait();
      for (size_t i = workers_.size(); i-- > 0;) Serve(i);
    }
    return std::move(builds_);
  }

 private:
  struct Worker {
    BuildWorker process;
    int64_t compiling = -1;  ///< index of a program
    double since = 0;        ///< when it began
    bool readable = false;
    bool is_late = false;
  };

  template <typename T>
  static T Must(Result<T> made) {
    if (!made) throw SystemError(made.error().message);
    return *std::move(made);
  }

  Worker Start() {
    return {Must(BuildWorker::Start(programs_, queue_, options_.compile)), -1, 0, false, false};
  }

  /// Until a worker says something or has been at it for too long, or not much longer.
  void Wait() {
    double deadline =
        base::MonotonicSeconds() + (stop_ ? kStopCheckInterval : options_.timeout_seconds);
    std::vector<pollfd> waiting;
    for (const Worker& worker : workers_) {
      waiting.push_back({worker.process.descriptor(), POLLIN, 0});
      if (worker.compiling >= 0) {
        deadline = std::min(deadline, worker.since + options_.timeout_seconds);
      }
    }
    const double seconds = std::max(0.0, deadline - base::MonotonicSeconds());
    poll(waiting.data(), waiting.size(), static_cast<int>(std::ceil(seconds * 1000)));
    for (size_t i = 0; i < workers_.size(); ++i) workers_[i].readable = waiting[i].revents != 0;
  }

  void Serve(size_t number) {
    Worker& worker = workers_[number];
    const bool is_late = worker.compiling >= 0 && !worker.is_late &&
                         base::MonotonicSeconds() >= worker.since + options_.timeout_seconds;
    if (worker.readable) {
      Take(number, worker.process.Receive());
    } else if (is_late) {
      worker.is_late = true;
      worker.process.Kill();  // its end will be heard of
    }
  }

  void Take(size_t number, BuildReport report) {
    Worker& worker = workers_[number];
    const bool is_ours = report.index >= 0 && report.index < static_cast<int64_t>(builds_.size());
    if (report.event == BuildReport::Event::kBegan && is_ours) {
      worker.compiling = report.index;
      worker.since = base::MonotonicSeconds();
    } else if (report.event == BuildReport::Event::kBuilt && is_ours) {
      builds_[report.index] = {std::move(report.kernel),
                               trial::Verdict::kBuildError,
                               std::move(report.error),
                               report.seconds,
                               {}};
      worker.compiling = -1;
    } else {
      Replace(number);
    }
  }

  /// The worker is gone. If that was not in order, another one goes on with what is left.
  void Replace(size_t number) {
    Worker worker = std::move(workers_[number]);
    workers_.erase(workers_.begin() + static_cast<int64_t>(number));
    worker.process.Kill();
    const BuildWorkerEnd end = worker.process.Wait();
    if (end.was_killed_by_system) {
      throw SystemError("a compiling process was killed by the system");
    }
    if (worker.compiling < 0) return;
    Build& build = builds_[worker.compiling];
    build.seconds = base::MonotonicSeconds() - worker.since;
    if (worker.is_late) {
      build.verdict = trial::Verdict::kTimeout;
      build.error = fmt::format("compiling did not end within {:g} s", options_.timeout_seconds);
    } else {
      build.error = "the compiler ended with " + end.description;
    }
    if (queue_.taken() < static_cast<int64_t>(programs_.size())) workers_.push_back(Start());
  }

  std::span<const tensor::Program* const> programs_;
  const BuilderOptions& options_;
  const StopCheck& stop_;
  BuildQueue queue_;
  std::vector<Worker> workers_;
  std::vector<Build> builds_;
};

}  // namespace

MeasurementDetails DetailsOf(const Build& build, const tensor::Program& program, int threads) {
  MeasurementDetails details = {.build_seconds = build.seconds,
                                .registers = static_cast<double>(build.use.registers),
                                .spill_bytes = static_cast<double>(build.use.spill_bytes),
                                .shared_bytes = static_cast<double>(build.use.shared_bytes)};
  if (!build.kernel || build.kernel->code_bytes == 0) return details;
  details.code_bytes = static_cast<double>(build.kernel->code_bytes);
  details.growth_bytes = static_cast<double>(GrowthBytes(program));
  details.workspace_bytes = static_cast<double>(build.kernel->WorkspaceBytes(threads));
  return details;
}

Builder::Builder(target::Target target, BuilderOptions options)
    : target_(std::move(target)), options_(std::move(options)) {
  if (options_.threads <= 0) {
    options_.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }
  if (!options_.compile) {
    options_.compile = [target = target_](const tensor::Program& program) {
      return codegen::CompileProgram(program, target, "kernel");
    };
  }
}

std::vector<Build> Builder::BuildAll(std::span<const tensor::Program* const> programs,
                                     const StopCheck& stop) {
  if (programs.empty()) return {};
  if (!std::exchange(warm_, true)) UseCompilerOnce(target_);
  if (target_.kind() != target::TargetKind::kNvidiaGpu) {
    return Batch(programs, options_, stop).Run();
  }
  std::vector<Build> builds(programs.size());
  std::vector<const tensor::Program*> unknown;
  std::vector<std::pair<size_t, uint64_t>> places;
  for (size_t i = 0; i < programs.size(); ++i) {
    const uint64_t hash = programs[i]->StructuralHash();
    if (const auto refused = refused_.find(hash); refused != refused_.end()) {
      Refuse(refused->second, builds[i]);
      continue;
    }
    unknown.push_back(programs[i]);
    places.emplace_back(i, hash);
  }
  std::vector<Build> made = Batch(unknown, options_, stop).Run();
  for (size_t i = 0; i < made.size(); ++i) {
    const auto& [place, hash] = places[i];
    Build& build = builds[place] = std::move(made[i]);
    if (!build.kernel) continue;
    build.use = UseOf(build.kernel->launches);
    if (Refuse(build.use, build)) refused_.emplace(hash, build.use);
  }
  return builds;
}

}  // namespace bayloom::measure

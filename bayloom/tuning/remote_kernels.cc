// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/remote_kernels.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/option_error.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/system_error.h"
#include "bayloom/codegen/aarch64_target.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/link.h"
#include "bayloom/measure/kernel_json.h"
#include "bayloom/measure/kernel_worker.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/reference_programs.h"
#include "bayloom/remote/answer_seconds.h"
#include "bayloom/target/emulated.h"
#include "bayloom/target/target_json.h"

namespace bayloom::tuning {
namespace {

Result<codegen::KernelObject> CompileAndLink(const tensor::Program& program,
                                             const target::Target& target) {
  Result<codegen::KernelObject> kernel = codegen::CompileProgram(program, target, "kernel");
  if (kernel) kernel->object = codegen::LinkSharedLibrary(kernel->object);
  return kernel;
}

measure::BuilderOptions LinkingOptions(const target::Target& target) {
  measure::BuilderOptions options;
  options.compile = [target](const tensor::Program& program) {
    return CompileAndLink(program, target);
  };
  return options;
}

/// A program of nothing much.
tensor::Program SmallProgram() {
  tensor::WorkloadBuilder builder("small");
  const tensor::Tensor x = builder.Input("x", {16});
  return tensor::Lower(builder.Build(
      {builder.Compute("y", {16}, [&](const auto& i) { return x(i[0]) + x(i[0]); })}));
}

/// The target that has the architecture of the worker's machine, for a message.
std::string NameFor(target::TargetKind kind) {
  return kind == target::TargetKind::kAArch64 ? codegen::kAArch64Name + std::string("[:PROCESSOR]")
                                              : "x86-64-v2, -v3 or -v4";
}

}  // namespace

target::Target KernelTarget(const std::string& name, int threads, const remote::Report& hello) {
  const target::Target machine = target::TargetFromJson(hello.body);
  if (threads > machine.cores) {
    throw OptionError("threads",
                      fmt::format("the workers' machine has {} processor{}, not {}", machine.cores,
                                  machine.cores == 1 ? "" : "s", threads));
  }
  target::Target target = codegen::TargetNamed(name, threads > 0 ? threads : machine.cores);
  if (target.kind() != machine.kind()) {
    throw OptionError(
        "target",
        fmt::format("programs of '{}' are for {}, and the workers' processor is {}; say {}", name,
                    target::ToString(target.kind()), target::ToString(machine.kind()),
                    NameFor(machine.kind())));
  }
  for (const std::string& feature : codegen::RequiredFeatures(target)) {
    if (target::HasFeature(machine, feature)) continue;
    throw OptionError("target",
                      fmt::format("the workers' processor has no {} for '{}'", feature, name));
  }
  return target::IsEmulated(machine) ? target::Emulated(std::move(target)) : target;
}

RemoteKernelEvaluator::RemoteKernelEvaluator(remote::WorkerPool& pool, target::Target target)
    : pool_(pool),
      target_(std::move(target)),
      builder_(target_, LinkingOptions(codegen::ShippedTarget(target_))) {
  const Result<codegen::KernelObject> linked = CompileAndLink(SmallProgram(), target_);
  if (!linked) throw InputError(linked.error().message);
}

int RemoteKernelEvaluator::Capacity() const { return kMaxInFlight; }

void RemoteKernelEvaluator::Submit(trial::TrialId id, const ProgramTrial& trial) {
  waiting_.push_back({id, &trial});
}

std::vector<measure::Build> RemoteKernelEvaluator::BuildAll(
    const std::vector<const tensor::Program*>& programs, const std::function<bool()>& stop) {
  const double start = base::MonotonicSeconds();
  std::vector<measure::Build> builds = builder_.BuildAll(programs, stop);
  build_seconds_ += base::MonotonicSeconds() - start;
  return builds;
}

std::optional<remote::SubjectId> RemoteKernelEvaluator::SubjectOf(
    const tensor::Workload& workload, const std::function<bool()>& stop) {
  const uint64_t hash = workload.StructuralHash();
  if (const auto known = subjects_.find(hash); known != subjects_.end()) return known->second;
  const std::vector<tensor::Program> programs = measure::ReferencePrograms(workload, target_);
  std::vector<const tensor::Program*> pointers;
  for (const tensor::Program& program : programs) pointers.push_back(&program);
  std::vector<measure::Build> builds = BuildAll(pointers, stop);
  std::vector<measure::TrialMessage> references;
  for (size_t i = 0; i < programs.size(); ++i) {
    if (!builds[i].kernel) continue;
    references.push_back(
        measure::TrialMessage::For(programs[i], *std::move(builds[i].kernel), target_.cores));
  }
  std::optional<remote::SubjectId> subject;
  if (!references.empty()) {
    subject =
        pool_.AddSubject(measure::KernelSubject(workload, target_.cores, references),
                         /*is_timed=*/!target::IsEmulated(target_), remote::kProgramAnswerSeconds);
  }
  subjects_.emplace(hash, subject);
  return subject;
}

void RemoteKernelEvaluator::BuildBatch(const std::function<bool()>& stop) {
  if (waiting_.empty()) return;
  const tensor::Workload& workload = *waiting_.front().trial->workload;
  const std::optional<remote::SubjectId> subject = SubjectOf(workload, stop);
  const auto [programs, place_of] = NextBatch(waiting_);
  std::vector<measure::Build> builds =
      subject
          ? BuildAll(programs, stop)
          : std::vector<measure::Build>(
                programs.size(), {.kernel = std::nullopt,
                                  .error = "no program with the expected results can be compiled"});
  for (const size_t place : place_of) {
    const WaitingProgram next = waiting_.front();
    waiting_.pop_front();
    measure::Build& build = builds[place];
    const double seconds = std::exchange(build.seconds, 0);  // counts once
    if (!build.kernel) {
      trial::Outcome outcome = trial::Outcome::Infeasible(build.verdict, build.error);
      measure::SetDetails(outcome, {.build_seconds = seconds});
      finished_.push_back({next.id, std::move(outcome), {}});
      continue;
    }
    measure::MeasurementDetails details =
        measure::DetailsOf(build, *programs[place], target_.cores);
    details.build_seconds = seconds;
    compiled_[next.id] = details;
    const auto kernel = measure::TrialMessage::For(*programs[place], *build.kernel, target_.cores);
    pool_.Submit(*subject, next.id, measure::KernelToJson(kernel), next.trial->is_repeat);
  }
}

std::vector<trial::FinishedTrial> RemoteKernelEvaluator::Collect(
    double wait_seconds, const std::function<bool()>& stop) {
  try {
    BuildBatch(stop);
  } catch (const measure::Interrupted&) {
    return {};
  } catch (const SystemError& error) {
    const WaitingProgram next = waiting_.front();
    waiting_.pop_front();
    return {{next.id, std::nullopt, error.what()}};
  }
  std::vector<trial::FinishedTrial> finished = std::exchange(finished_, {});
  const bool is_waited_for = finished.empty() && waiting_.empty();
  for (trial::FinishedTrial& trial : pool_.Collect(is_waited_for ? wait_seconds : 0, stop)) {
    const auto compiled = compiled_.extract(trial.id);
    if (trial.outcome && !compiled.empty()) {
      measure::SetDetails(*trial.outcome, compiled.mapped());
    }
    finished.push_back(std::move(trial));
  }
  return finished;
}

void RemoteKernelEvaluator::Cancel() {
  waiting_.clear();
  finished_.clear();
  compiled_.clear();
  pool_.Cancel();
}

}  // namespace bayloom::tuning

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/measurer.h"

#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/codegen/host.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/reference_programs.h"

namespace bayloom::measure {
namespace {

bool IsGpu(const target::Target& target) { return target.kind() == target::TargetKind::kNvidiaGpu; }

target::Target ReferenceTarget(const target::Target& target) {
  return IsGpu(target) ? codegen::HostTarget() : target;
}

/// What stands for the compiler makes code for the target.
BuilderOptions ReferenceOptions(const target::Target& target, BuilderOptions options) {
  if (IsGpu(target)) options.compile = nullptr;
  return options;
}

KernelOptions ForTarget(KernelOptions options, const target::Target& target) {
  options.runner.limit_address_space = !IsGpu(target);
  return options;
}

}  // namespace

Measurer::Measurer(target::Target target, MeasureOptions options)
    : builder_(target, options.builder),
      reference_builder_(ReferenceTarget(target), ReferenceOptions(target, options.builder)),
      kernels_(ForTarget(std::move(options), target)) {}

Status Measurer::PrepareReference(const tensor::Workload& workload, const StopCheck& stop) {
  if (kernels_.HasReference(workload)) return Ok();
  std::vector<ReferenceKernel> kernels;
  for (tensor::Program& program : ReferencePrograms(workload, reference_builder_.target())) {
    kernels.emplace_back([this, &stop, program = std::move(program)]() -> Result<TrialMessage> {
      const tensor::Program* const only[] = {&program};
      Build build = std::move(reference_builder_.BuildAll(only, stop).front());
      if (!build.kernel) return Error{build.error};
      return TrialMessage::For(program, *std::move(build.kernel),
                               reference_builder_.target().cores);
    });
  }
  return kernels_.PrepareReference(workload, kernels, stop);
}

void Measurer::SetIncumbent(const tensor::Workload& workload, const tensor::Program& program,
                            double seconds, const StopCheck& stop) {
  const tensor::Program* const programs[] = {&program};
  Build build = std::move(builder_.BuildAll(programs, stop).front());
  if (!build.kernel) return;
  kernels_.SetIncumbent(
      workload, TrialMessage::For(program, *std::move(build.kernel), target().cores), seconds);
}

std::vector<trial::Outcome> Measurer::Measure(const tensor::Workload& workload,
                                              std::span<const tensor::Program* const> candidates,
                                              const Observer& observer, const StopCheck& stop) {
  std::vector<Build> builds = BuildAll(workload, candidates, stop);
  std::vector<trial::Outcome> outcomes;
  for (size_t i = 0; i < candidates.size(); ++i) {
    outcomes.push_back(Run(workload, *candidates[i], builds[i], stop));
    if (observer) observer(i, outcomes.back());
  }
  return outcomes;
}

std::vector<Build> Measurer::BuildAll(const tensor::Workload& workload,
                                      std::span<const tensor::Program* const> candidates,
                                      const StopCheck& stop) {
  if (const Status prepared = PrepareReference(workload, stop); !prepared) {
    return std::vector<Build>(candidates.size(),
                              Build{.kernel = std::nullopt, .error = prepared.error().message});
  }
  const double start = base::MonotonicSeconds();
  std::vector<Build> builds = builder_.BuildAll(candidates, stop);
  build_seconds_ += base::MonotonicSeconds() - start;
  return builds;
}

std::optional<trial::Outcome> Measurer::Refusal(const tensor::Workload& workload,
                                                const tensor::Program& program, const Build& build,
                                                const StopCheck& stop) {
  if (!build.kernel) {
    trial::Outcome outcome = trial::Outcome::Infeasible(build.verdict, build.error);
    SetDetails(outcome, DetailsOf(build, program, target().cores));
    return outcome;
  }
  if (const Status prepared = PrepareReference(workload, stop); !prepared) {
    return trial::Outcome::Infeasible(trial::Verdict::kBuildError, prepared.error().message);
  }
  return std::nullopt;
}

trial::Outcome Measurer::Run(const tensor::Workload& workload, const tensor::Program& program,
                             const Build& build, const StopCheck& stop) {
  ThrowIfStopped(stop);
  ++trials_;
  if (std::optional<trial::Outcome> refusal = Refusal(workload, program, build, stop)) {
    return *std::move(refusal);
  }
  return kernels_.Run(workload, TrialMessage::For(program, *build.kernel, target().cores),
                      DetailsOf(build, program, target().cores), stop);
}

trial::Outcome Measurer::Repeat(const tensor::Workload& workload, const tensor::Program& program,
                                const Build& build, const StopCheck& stop) {
  ThrowIfStopped(stop);
  if (std::optional<trial::Outcome> refusal = Refusal(workload, program, build, stop)) {
    return *std::move(refusal);
  }
  return kernels_.Repeat(workload, TrialMessage::For(program, *build.kernel, target().cores),
                         DetailsOf(build, program, target().cores), stop);
}

Measurer::Statistics Measurer::statistics() const {
  return {trials_, build_seconds_, kernels_.run_seconds(), kernels_.runner_starts(),
          kernels_.drift()};
}

}  // namespace bayloom::measure

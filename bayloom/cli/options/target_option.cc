// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/target_option.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <optional>
#include <set>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/gpu/gpu_description.h"
#include "bayloom/codegen/gpu/gpu_image.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"
#include "bayloom/target/gpu_machine.h"

namespace bayloom::cli {
namespace {

/// Throws InputError unless there is a GPU here that runs code for the target.
void CheckGpu(const target::Target& target) {
  const Result<codegen::GpuDescription> gpu = codegen::DescribeGpu();
  if (!gpu) {
    throw InputError(fmt::format(
        "--target {}: {}; 'bayloom compile --target {}' makes a library here that runs where there "
        "is one",
        target.name, gpu.error().message, target.name));
  }
  if (!target::RunsCodeOf(target.cpu, gpu->capability)) {
    throw InputError(fmt::format("--target {}: {} is sm_{}", target.name,
                                 base::SingleLine(gpu->name), gpu->capability));
  }
  if (codegen::WantedGpuImage() == codegen::GpuImage::kCubin &&
      target::CapabilityOf(target.cpu) / 10 != gpu->capability / 10) {
    throw InputError(fmt::format(
        "--target {}: {} is sm_{}, which runs no cubin of {}; set BAYLOOM_CUDA_IMAGE=ptx",
        target.name, base::SingleLine(gpu->name), gpu->capability, target.cpu));
  }
}

}  // namespace

void TargetOption::AddTo(CLI::App& command) {
  Advanced(command
               .add_option("--target", name,
                           "What to generate code for: native, x86-64-v2, -v3, -v4, "
                           "sapphirerapids and other processors, "
                           "aarch64-linux-gnu[:PROCESSOR], cuda[:sm_NN]")
               ->option_text("NAME")
               ->capture_default_str());
  command.add_option("--threads", threads, "Threads that the code may use")
      ->option_text("N")
      ->default_str("all cores")
      ->check(AtLeastOne());
  Advanced(command.add_option("--device", device, "GPU to use, of those that its driver numbers")
               ->option_text("N")
               ->default_str("0")
               ->check(CLI::NonNegativeNumber));
}

bool TargetOption::IsGpu() const { return codegen::IsGpuName(name); }

target::Target TargetOption::Named() const {
  if (device) {
    if (!IsGpu()) {
      throw InputError(fmt::format("--device {}: --target {} is no GPU", *device, name));
    }
    codegen::ChooseGpu(*device);
  }
  return codegen::TargetNamed(name, threads);
}

target::Target TargetOption::Resolve() const {
  const int processors = codegen::AllowedProcessors();
  if (threads > processors) {
    throw InputError(fmt::format("--threads {}: this process may run on {} {}", threads, processors,
                                 processors == 1 ? "processor" : "processors"));
  }
  target::Target target = Named();
  if (target.kind() == target::TargetKind::kNvidiaGpu) {
    CheckGpu(target);
    return target;
  }
  if (target.kind() != codegen::HostKind()) {
    throw InputError(fmt::format(
        "--target {0}: its programs can be measured and run on such a machine only; 'bayloom "
        "compile --target {0}' makes a library for it here, of programs that an estimate chooses",
        name));
  }
  if (const std::optional<std::string> missing = codegen::MissingFeature(target)) {
    throw InputError(fmt::format("--target {}: this processor has no {}", name, *missing));
  }
  return target;
}

std::vector<target::Target> TargetOption::ResolveAll() const {
  if (threads > BAYLOOM_MAX_THREADS) {
    throw InputError(fmt::format("--threads {}: compiled code uses up to {} threads", threads,
                                 BAYLOOM_MAX_THREADS));
  }
  std::vector<target::Target> targets;
  std::set<std::string> names;
  std::vector<std::string> wanted = CLI::detail::split(name, ',');
  if (name.ends_with(',')) wanted.emplace_back();
  for (const std::string& one : wanted) {
    targets.push_back(codegen::TargetNamed(one, threads));
    if (!names.insert(one).second) {
      throw InputError(fmt::format("--target: '{}' is there twice", one));
    }
    if (targets.back().kind() != targets.front().kind()) {
      throw InputError(fmt::format("--target: {} and {} cannot be in one library: compile twice",
                                   wanted.front(), one));
    }
  }
  return targets;
}

}  // namespace bayloom::cli

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/host.h"

#include <sched.h>

#include <optional>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/codegen/aarch64_target.h"
#include "bayloom/codegen/gpu/gpu_description.h"
#include "bayloom/codegen/x86_target.h"
#include "bayloom/target/named_target.h"

namespace bayloom::codegen {

int AllowedProcessors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  return CPU_COUNT(&allowed);
}

target::TargetKind HostKind() {
#if defined(__x86_64__)
  return target::TargetKind::kX86_64;
#elif defined(__aarch64__)
  return target::TargetKind::kAArch64;
#else
  return target::TargetKind::kOtherCpu;
#endif
}

target::Target TargetNamed(const std::string& name, int threads) {
  if (name == "native") return HostTarget(threads);
  const int cores = threads > 0 ? threads : AllowedProcessors();
  if (IsGpuName(name)) return GpuTargetNamed(name);
  if (IsAArch64Name(name)) return AArch64Target(name, cores);
  std::optional<target::Target> level = target::LevelTarget(name, cores);
  if (level) return *std::move(level);
  if (const std::optional<target::Target> processor = X86Target(name, cores)) return *processor;
  std::string names = "native";
  for (std::string_view known : target::LevelNames()) names.append(", ").append(known);
  names.append(", ").append(kAArch64Name).append("[:PROCESSOR], cuda[:sm_NN]");
  names.append(", and names of x86-64 processors");
  throw InputError("there is no target '" + base::SingleLine(name) + "'; there are " + names);
}

}  // namespace bayloom::codegen

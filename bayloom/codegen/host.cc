// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/host.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>
#include <sched.h>
#include <unistd.h>

#include <optional>
#include <set>

#include "bayloom/base/one_line.h"
#include "bayloom/base/result.h"
#include "bayloom/codegen/aarch64_target.h"
#include "bayloom/codegen/gpu/gpu_description.h"
#include "bayloom/codegen/runtime/bayloom_cpu.h"
#include "bayloom/codegen/x86_target.h"
#include "bayloom/target/named_target.h"

namespace bayloom::codegen {
namespace {

int64_t CacheBytes(int name, int64_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

int VectorBytes(const llvm::StringMap<bool>& features) {
  if (features.lookup("avx512f")) return 64;
  return features.lookup("avx") ? 32 : 16;
}

/// Sorted, so that the text is the same in every run.
std::string FeatureString(const llvm::StringMap<bool>& features) {
  std::set<std::string> names;
  for (const auto& feature : features) {
    names.insert((feature.second ? "+" : "-") + feature.first().str());
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

}  // namespace

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

target::Target HostTarget(int threads) {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  // The processor may have tile registers that the system does not let this process use.
  if (features.lookup("amx-tile") && bayloom_cpu_has("amx-tile") == 0) {
    for (auto& feature : features) {
      if (feature.first().starts_with("amx-")) feature.second = false;
    }
  }
  target::Target target;
  target.name = "native";
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  target.features = FeatureString(features);
  target.cores = threads > 0 ? threads : AllowedProcessors();
  target.vector_bytes = VectorBytes(features);
  target.l1_bytes = CacheBytes(_SC_LEVEL1_DCACHE_SIZE, target.l1_bytes);
  target.l2_bytes = CacheBytes(_SC_LEVEL2_CACHE_SIZE, target.l2_bytes);
  return target;
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
  throw InputError("there is no target '" + base::InOneLine(name) + "'; there are " + names);
}

}  // namespace bayloom::codegen

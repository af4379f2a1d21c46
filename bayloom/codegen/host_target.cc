// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>
#include <unistd.h>

#include <set>

#include "bayloom/base/emulator.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/runtime/bayloom_cpu.h"
#include "bayloom/target/emulated.h"

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

bool HasCompiler() { return true; }

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
  return base::EmulatorOfThisProcess() != nullptr ? target::Emulated(target) : target;
}

}  // namespace bayloom::codegen

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/aarch64_target.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/TargetParser/AArch64TargetParser.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/codegen/ir/processor.h"
#include "bayloom/target/arm_processor.h"

namespace bayloom::codegen {
namespace {

constexpr char kTriple[] = "aarch64-unknown-linux-gnu";
constexpr char kGeneric[] = "generic";

/// "cortex-a76, cortex-a75, cortex-a77": the processors whose names differ least.
std::string SimilarProcessors(const std::string& cpu) {
  constexpr size_t kShown = 4;
  llvm::SmallVector<llvm::StringRef> known;
  llvm::AArch64::fillValidCPUArchList(known);
  std::vector<std::pair<unsigned, std::string>> by_distance;
  for (const llvm::StringRef name : known) {
    by_distance.emplace_back(name.edit_distance_insensitive(cpu), name.str());
  }
  std::ranges::sort(by_distance);
  std::string names;
  for (size_t i = 0; i < std::min(kShown, by_distance.size()); ++i) {
    names += (i > 0 ? ", " : "") + by_distance[i].second;
  }
  return names;
}

/// LLVM's own name of the processor, of which some have several: apple-m1 is apple-a14.
std::string ProcessorOf(const std::string& name) {
  const size_t colon = name.find(':');
  if (colon == std::string::npos) return kGeneric;
  const std::string written = name.substr(colon + 1);
  std::string cpu = llvm::AArch64::resolveCPUAlias(written).str();
  if (DescribeProcessor(kTriple, kGeneric)->isCPUStringValid(cpu)) return cpu;
  throw InputError("there is no processor '" + base::SingleLine(written) + "' of " + kAArch64Name +
                   "; similar names are " + SimilarProcessors(written));
}

}  // namespace

bool IsAArch64Name(const std::string& name) {
  return name == kAArch64Name || name.starts_with(std::string(kAArch64Name) + ":");
}

target::Target AArch64Target(const std::string& name, int cores) {
  target::Target target;
  target.name = name;
  target.triple = kTriple;
  target.cpu = ProcessorOf(name);
  target.features = FeaturesOfProcessor(kTriple, target.cpu, target::TargetKind::kAArch64);
  target.cores = cores;
  target.vector_bytes = 16;
  const target::ArmProcessor& processor = target::ArmProcessorNamed(target.cpu);
  target.l1_bytes = processor.l1_bytes;
  target.l2_bytes = processor.l2_bytes;
  return target;
}

}  // namespace bayloom::codegen

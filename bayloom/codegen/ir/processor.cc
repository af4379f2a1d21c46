// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/processor.h"

#include <llvm/MC/TargetRegistry.h>

#include <algorithm>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/object.h"

namespace bayloom::codegen {

std::unique_ptr<llvm::MCSubtargetInfo> DescribeProcessor(const std::string& triple,
                                                         const std::string& cpu) {
  InitializeLlvm();
  std::string problem;
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (llvm_target == nullptr) throw InputError("cannot make code for " + triple + ": " + problem);
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      llvm_target->createMCSubtargetInfo(triple, cpu, ""));
}

std::string FeaturesOfProcessor(const std::string& triple, const std::string& cpu,
                                target::TargetKind kind) {
  const std::unique_ptr<llvm::MCSubtargetInfo> description = DescribeProcessor(triple, cpu);
  const auto known = KnownFeatures(kind);
  std::string features;
  for (const llvm::SubtargetFeatureKV& feature : description->getAllProcessorFeatures()) {
    const bool has = description->getFeatureBits().test(feature.Value);
    if (!has || std::ranges::find(known, std::string_view(feature.Key)) == known.end()) continue;
    features.append(features.empty() ? "+" : ",+").append(feature.Key);
  }
  return features;
}

}  // namespace bayloom::codegen

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu_features.h"

#include <algorithm>
#include <sstream>

#include "bayloom/codegen/host.h"
#include "bayloom/codegen/runtime/bayloom_cpu.h"
#include "bayloom/codegen/runtime/bayloom_cpu_features.h"

namespace bayloom::codegen {
namespace {

/// The parts of "+avx,-sse4a", signs included.
std::vector<std::string> SignedFeatures(const target::Target& target) {
  std::vector<std::string> features;
  std::istringstream text(target.features);
  for (std::string feature; std::getline(text, feature, ',');) {
    if (feature.size() > 1) features.push_back(feature);
  }
  return features;
}

bool CanBeAskedFor(const target::Target& target, const std::string& signed_feature) {
  const std::span<const std::string_view> known = KnownFeatures(target.kind());
  return std::ranges::find(known, std::string_view(signed_feature).substr(1)) != known.end();
}

}  // namespace

std::span<const std::string_view> KnownFeatures(target::TargetKind kind) {
#define BAYLOOM_FEATURE_NAME(name, ...) name,
  static constexpr std::string_view kX86_64[] = {BAYLOOM_X86_64_FEATURES(BAYLOOM_FEATURE_NAME)};
  static constexpr std::string_view kAArch64[] = {BAYLOOM_AARCH64_FEATURES(BAYLOOM_FEATURE_NAME)};
#undef BAYLOOM_FEATURE_NAME
  switch (kind) {
    case target::TargetKind::kX86_64:
      return kX86_64;
    case target::TargetKind::kAArch64:
      return kAArch64;
    case target::TargetKind::kNvidiaGpu:
    case target::TargetKind::kOtherCpu:
      break;
  }
  return {};
}

target::Target ShippedTarget(const target::Target& target) {
  if (KnownFeatures(target.kind()).empty()) return target;
  target::Target shipped = target;
  shipped.features.clear();
  for (std::string feature : SignedFeatures(target)) {
    if (!CanBeAskedFor(target, feature)) feature[0] = '-';
    shipped.features += (shipped.features.empty() ? "" : ",") + feature;
  }
  return shipped;
}

std::vector<std::string> RequiredFeatures(const target::Target& target) {
  std::vector<std::string> required;
  for (const std::string& feature : SignedFeatures(target)) {
    if (feature[0] == '+' && CanBeAskedFor(target, feature)) required.push_back(feature.substr(1));
  }
  std::sort(required.begin(), required.end());
  return required;
}

std::optional<std::string> MissingFeature(const target::Target& target) {
  if (target.kind() != HostKind()) return std::string(target::ToString(target.kind()));
  for (const std::string& feature : RequiredFeatures(target)) {
    if (bayloom_cpu_has(feature.c_str()) == 0) return feature;
  }
  return std::nullopt;
}

}  // namespace bayloom::codegen

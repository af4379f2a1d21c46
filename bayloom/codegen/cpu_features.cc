// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu_features.h"

#include <algorithm>
#include <sstream>

#include "bayloom/codegen/runtime/bayloom_cpu.h"

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

bool CanBeAskedFor(const std::string& signed_feature) {
  return bayloom_cpu_knows(signed_feature.c_str() + 1) != 0;
}

}  // namespace

target::Target ShippedTarget(const target::Target& target) {
  if (!target.triple.starts_with("x86_64")) return target;
  target::Target shipped = target;
  shipped.features.clear();
  for (std::string feature : SignedFeatures(target)) {
    if (!CanBeAskedFor(feature)) feature[0] = '-';
    shipped.features += (shipped.features.empty() ? "" : ",") + feature;
  }
  return shipped;
}

std::vector<std::string> RequiredFeatures(const target::Target& target) {
  std::vector<std::string> required;
  for (const std::string& feature : SignedFeatures(target)) {
    if (feature[0] == '+' && CanBeAskedFor(feature)) required.push_back(feature.substr(1));
  }
  std::sort(required.begin(), required.end());
  return required;
}

std::optional<std::string> MissingFeature(const target::Target& target) {
  for (const std::string& feature : RequiredFeatures(target)) {
    if (bayloom_cpu_has(feature.c_str()) == 0) return feature;
  }
  return std::nullopt;
}

}  // namespace bayloom::codegen

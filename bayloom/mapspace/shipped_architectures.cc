// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::mapspace {

// The files of architectures/, embedded by the build.
extern const char kGemminiArchitecture[];
extern const char kGemmini16x16Architecture[];
extern const char kEyerissLikeArchitecture[];
extern const char kSimbaLikeArchitecture[];

namespace {

struct Shipped {
  const char* name;
  const char* text;
};

constexpr Shipped kShipped[] = {{"gemmini", kGemminiArchitecture},
                                {"gemmini16x16", kGemmini16x16Architecture},
                                {"eyeriss-like", kEyerissLikeArchitecture},
                                {"simba-like", kSimbaLikeArchitecture}};

}  // namespace

std::vector<std::string> ShippedArchitectureNames() {
  std::vector<std::string> names;
  for (const Shipped& shipped : kShipped) names.emplace_back(shipped.name);
  return names;
}

Architecture ShippedArchitecture(std::string_view name) {
  std::string names;
  for (const Shipped& shipped : kShipped) {
    if (shipped.name == name) return ParseArchitectureYaml(shipped.text, shipped.name);
    names += (names.empty() ? "" : ", ") + std::string(shipped.name);
  }
  throw InputError("there is no architecture '" + std::string(name) + "'; there are " + names +
                   ", or give a YAML file");
}

Architecture LoadArchitecture(const std::string& name_or_file) {
  const bool is_file = name_or_file.ends_with(".yaml") || name_or_file.ends_with(".yml") ||
                       name_or_file.find('/') != std::string::npos;
  return is_file ? ReadArchitecture(name_or_file) : ShippedArchitecture(name_or_file);
}

}  // namespace bayloom::mapspace

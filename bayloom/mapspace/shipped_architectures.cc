// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/shipped_file.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::mapspace {

// The files of architectures/, embedded by the build.
extern const char kGemminiArchitecture[];
extern const char kGemmini16x16Architecture[];
extern const char kEyerissLikeArchitecture[];
extern const char kSimbaLikeArchitecture[];
extern const char kTpuLikeArchitecture[];

namespace {

struct Shipped {
  const char* name;
  const char* text;
};

constexpr Shipped kShipped[] = {{"gemmini", kGemminiArchitecture},
                                {"gemmini16x16", kGemmini16x16Architecture},
                                {"eyeriss-like", kEyerissLikeArchitecture},
                                {"simba-like", kSimbaLikeArchitecture},
                                {"tpu-like", kTpuLikeArchitecture}};

}  // namespace

std::vector<std::string> ShippedArchitectureNames() {
  std::vector<std::string> names;
  for (const Shipped& shipped : kShipped) names.emplace_back(shipped.name);
  return names;
}

std::string_view ShippedArchitectureFile(std::string_view name) {
  std::string names;
  for (const Shipped& shipped : kShipped) {
    if (shipped.name == name) return shipped.text;
    names += (names.empty() ? "" : ", ") + std::string(shipped.name);
  }
  throw InputError("there is no architecture '" + std::string(name) + "'; there are " + names +
                   ", or give a YAML file");
}

Architecture ShippedArchitecture(std::string_view name, const Technology* technology) {
  return ParseArchitectureYaml(std::string(ShippedArchitectureFile(name)), std::string(name),
                               technology);
}

bool IsArchitectureFile(std::string_view name) { return LooksLikeYamlFile(name); }

Architecture LoadArchitecture(const std::string& name_or_file, const Technology* technology,
                              const std::map<std::string, std::string>& variables) {
  return LooksLikeYamlFile(name_or_file) ? ReadArchitecture(name_or_file, technology, variables)
                                         : ShippedArchitecture(name_or_file, technology);
}

}  // namespace bayloom::mapspace

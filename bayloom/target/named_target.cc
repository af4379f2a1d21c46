// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/named_target.h"

#include <array>
#include <string>

namespace bayloom::target {
namespace {

struct Level {
  std::string_view name;
  int vector_bytes;
  std::string_view features;  ///< those of the level below are its own, too
};

/// x86-64 psABI, version 1.0, table 3.1.
constexpr std::array kLevels = {
    Level{"x86-64-v2", 16,
          "+64bit,+cmov,+crc32,+cx16,+cx8,+fxsr,+mmx,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,"
          "+sse4.2,+ssse3"},
    Level{"x86-64-v3", 32, ",+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"},
    Level{"x86-64-v4", 64, ",+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl,+evex512"},
};

}  // namespace

std::vector<std::string_view> LevelNames() {
  std::vector<std::string_view> names;
  for (const Level& level : kLevels) names.push_back(level.name);
  return names;
}

std::optional<Target> LevelTarget(std::string_view name, int cores) {
  std::string features;
  for (const Level& level : kLevels) {
    features += level.features;
    if (level.name != name) continue;
    Target target;
    target.name = target.cpu = level.name;
    target.triple = "x86_64-pc-linux-gnu";
    target.features = features;
    target.cores = cores;
    target.vector_bytes = level.vector_bytes;
    return target;
  }
  return std::nullopt;
}

}  // namespace bayloom::target

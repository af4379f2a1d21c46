// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/arm_processor.h"

#include <algorithm>
#include <array>

namespace bayloom::target {
namespace {

constexpr int64_t kKiB = 1 << 10, kMiB = 1 << 20;

/// The first stands for those that are not here.
constexpr std::array kProcessors = {
    ArmProcessor{"generic", 2, 32 * kKiB, 256 * kKiB, 2 * kMiB},
    ArmProcessor{"cortex-a53", 1, 32 * kKiB, 128 * kKiB, 0},
    ArmProcessor{"cortex-a55", 1, 32 * kKiB, 128 * kKiB, 1 * kMiB},
    ArmProcessor{"cortex-a57", 1, 32 * kKiB, 512 * kKiB, 0},
    ArmProcessor{"cortex-a72", 1, 32 * kKiB, 256 * kKiB, 0},
    ArmProcessor{"cortex-a76", 2, 64 * kKiB, 512 * kKiB, 2 * kMiB},
    ArmProcessor{"cortex-a77", 2, 64 * kKiB, 512 * kKiB, 4 * kMiB},
    ArmProcessor{"cortex-a78", 2, 64 * kKiB, 512 * kKiB, 4 * kMiB},
    ArmProcessor{"cortex-a710", 2, 64 * kKiB, 512 * kKiB, 8 * kMiB},
    ArmProcessor{"cortex-x1", 4, 64 * kKiB, 1 * kMiB, 8 * kMiB},
    ArmProcessor{"cortex-x2", 4, 64 * kKiB, 1 * kMiB, 8 * kMiB},
    ArmProcessor{"neoverse-n1", 2, 64 * kKiB, 1 * kMiB, 32 * kMiB},
    ArmProcessor{"neoverse-n2", 2, 64 * kKiB, 1 * kMiB, 32 * kMiB},
    ArmProcessor{"neoverse-v1", 4, 64 * kKiB, 1 * kMiB, 32 * kMiB},
    ArmProcessor{"neoverse-v2", 4, 64 * kKiB, 1 * kMiB, 64 * kMiB},
    ArmProcessor{"a64fx", 2, 64 * kKiB, 640 * kKiB, 0},
    ArmProcessor{"apple-a14", 4, 128 * kKiB, 3 * kMiB, 8 * kMiB},  // apple-m1 has its cores
    ArmProcessor{"apple-a15", 4, 128 * kKiB, 4 * kMiB, 8 * kMiB},  // apple-m2
};

}  // namespace

const ArmProcessor& ArmProcessorNamed(std::string_view cpu) {
  const auto found = std::ranges::find(kProcessors, cpu, &ArmProcessor::cpu);
  return found == kProcessors.end() ? kProcessors.front() : *found;
}

}  // namespace bayloom::target

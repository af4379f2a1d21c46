// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Tuning spaces of Kernel Tuner (T1).

#include "bayloom/search/scenario.h"
#include "tests/fuzz/reader.h"

namespace bayloom::fuzz {

std::vector<std::string> Seeds() { return {}; }  // corpus/ has them

void Read(const std::string& input) { (void)search::ParseScenario(input, "scenario.yaml"); }

std::optional<std::string> MutateStructure(const std::string&, base::RandomStream&) {
  return std::nullopt;
}

}  // namespace bayloom::fuzz

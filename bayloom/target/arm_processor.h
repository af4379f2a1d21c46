// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

namespace bayloom::target {

/// What is assumed of an AArch64 processor that nothing was measured on, as its vendor describes
/// it; of caches that come in several sizes, a usual one. All have 32 vector registers of 16 bytes.
struct ArmProcessor {
  std::string_view cpu;  ///< LLVM's name
  int multiply_adds;     ///< of 16 bytes, that a core begins in a cycle
  int64_t l1_bytes;      ///< data cache of a core
  int64_t l2_bytes;      ///< second-level cache, a core's share
  int64_t l3_bytes;      ///< shared by all cores; 0: none
};

/// The processor of LLVM's name; a modest one for names that are not in the table.
const ArmProcessor& ArmProcessorNamed(std::string_view cpu);

}  // namespace bayloom::target

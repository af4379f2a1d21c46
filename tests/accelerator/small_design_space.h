// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::accelerator {

/// 30 designs: lanes with registers around a buffer, with or without a level between.
inline constexpr char kSmallDesignSpace[] =
    R"(name: small
technology: 7nm
parameters:
  lanes: {type: ordinal, values: [2, 4, 8, 16], scale: log, default: 4}
  words: {type: ordinal, values: [256, 1024, 4096, 16384], scale: log, default: 1024}
  middle: {type: ordinal, values: [0, 1], default: 0}
constraints:
- lanes <= 8 or words > 256
architecture:  # $(nothing) is computed here
  arithmetic: {instances: $(lanes), word-bits: 8}
  storage:
  - {name: Registers, entries: 8, instances: $(lanes), word-bits: 8}
  - {name: Middle, enabled: $(middle), entries: 64, word-bits: 8}
  - {name: Buffer, entries: $(words), word-bits: 8, read_bandwidth: $(8 if lanes < 8 else 2 * lanes)}
  - {name: DRAM, technology: DRAM, word-bits: 8, block-size: 8, read_bandwidth: 4}
  constraints:
  - {target: Middle, type: bypass, keep: [Inputs], bypass: [Weights, Outputs]}
)";

}  // namespace bayloom::accelerator

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "bayloom/cli/options/network_option.h"
#include "bayloom/report/table.h"

namespace bayloom::cli {

/// Steps of a decoder that are to be timed.
struct DecoderSteps {
  std::vector<int64_t> decode;   ///< of one token, behind so many
  std::vector<int64_t> prefill;  ///< of so many, behind none

  bool empty() const { return decode.empty() && prefill.empty(); }
};

/// What steps take. `memory_bytes_per_second`: what the machine's memory delivers.
struct TimedSteps {
  report::Table table;
  double memory_bytes_per_second;
};

/// Times each step for so many seconds, with a network for one of the shapes that takes it. Throws
/// InputError if the model is no decoder, and if none of them takes a step.
TimedSteps TimeSteps(const NetworkOption& option, const DecoderSteps& steps, double seconds);

}  // namespace bayloom::cli

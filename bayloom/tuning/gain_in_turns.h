// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "bayloom/measure/paired_ratio.h"

namespace bayloom::tuning {

/// What the network takes with the programs that were chosen and with zero-trial programs, timed in
/// turns.
struct GainInTurns {
  double zero_trial_seconds = 0;
  double tuned_seconds = 0;
  measure::PairedRatio ratio;  ///< of zero-trial over tuned
  /// The same of programs that were not used, because they are not clearly faster together; then
  /// the zero-trial programs are kept and `ratio` is 1, of no rounds.
  std::optional<measure::PairedRatio> refused = std::nullopt;
};

/// Of several networks, run one after the other: the ends of the interval are conservative.
GainInTurns Sum(const GainInTurns& a, const GainInTurns& b);

/// {"zero_trial": seconds, "tuned": seconds, "ratio", "low", "high", "rounds"}, and of programs
/// that were not used "refused": {"ratio", "low", "high", "rounds"}.
nlohmann::json ToJson(const GainInTurns& gain);
/// nullopt for what is none.
std::optional<GainInTurns> GainFromJson(const nlohmann::json& json);

}  // namespace bayloom::tuning

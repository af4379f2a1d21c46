// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/gain_in_turns.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace bayloom::tuning {

GainInTurns Sum(const GainInTurns& a, const GainInTurns& b) {
  GainInTurns sum;
  sum.zero_trial_seconds = a.zero_trial_seconds + b.zero_trial_seconds;
  sum.tuned_seconds = a.tuned_seconds + b.tuned_seconds;
  const auto whole = [&](double measure::PairedRatio::*ratio) {
    return sum.zero_trial_seconds /
           (a.zero_trial_seconds / (a.ratio.*ratio) + b.zero_trial_seconds / (b.ratio.*ratio));
  };
  sum.ratio = {.ratio = whole(&measure::PairedRatio::ratio),
               .low = whole(&measure::PairedRatio::low),
               .high = whole(&measure::PairedRatio::high),
               .rounds = std::min(a.ratio.rounds, b.ratio.rounds)};
  return sum;
}

nlohmann::json ToJson(const GainInTurns& gain) {
  return {{"zero_trial", gain.zero_trial_seconds},
          {"tuned", gain.tuned_seconds},
          {"ratio", gain.ratio.ratio},
          {"low", gain.ratio.low},
          {"high", gain.ratio.high},
          {"rounds", gain.ratio.rounds}};
}

std::optional<GainInTurns> GainFromJson(const nlohmann::json& json) {
  if (!json.is_object()) return std::nullopt;
  GainInTurns gain;
  const std::pair<const char*, double*> numbers[] = {{"zero_trial", &gain.zero_trial_seconds},
                                                     {"tuned", &gain.tuned_seconds},
                                                     {"ratio", &gain.ratio.ratio},
                                                     {"low", &gain.ratio.low},
                                                     {"high", &gain.ratio.high}};
  for (const auto& [name, place] : numbers) {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_number()) return std::nullopt;
    *place = found->get<double>();
    if (!std::isfinite(*place) || *place <= 0) return std::nullopt;
  }
  const auto rounds = json.find("rounds");
  if (rounds == json.end() || !rounds->is_number_integer()) return std::nullopt;
  gain.ratio.rounds = static_cast<int>(std::clamp<int64_t>(rounds->get<int64_t>(), 0, 1 << 30));
  return gain;
}

}  // namespace bayloom::tuning

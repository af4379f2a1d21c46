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

namespace {

void AddTo(nlohmann::json& json, const measure::PairedRatio& ratio) {
  json["ratio"] = ratio.ratio;
  json["low"] = ratio.low;
  json["high"] = ratio.high;
  json["rounds"] = ratio.rounds;
}

bool ReadPositive(const nlohmann::json& json, const char* name, double& place) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number()) return false;
  place = found->get<double>();
  return std::isfinite(place) && place > 0;
}

std::optional<measure::PairedRatio> RatioFromJson(const nlohmann::json& json) {
  measure::PairedRatio ratio;
  if (!ReadPositive(json, "ratio", ratio.ratio) || !ReadPositive(json, "low", ratio.low) ||
      !ReadPositive(json, "high", ratio.high)) {
    return std::nullopt;
  }
  const auto rounds = json.find("rounds");
  if (rounds == json.end() || !rounds->is_number_integer()) return std::nullopt;
  ratio.rounds = static_cast<int>(std::clamp<int64_t>(rounds->get<int64_t>(), 0, 1 << 30));
  return ratio;
}

}  // namespace

nlohmann::json ToJson(const GainInTurns& gain) {
  nlohmann::json json = {{"zero_trial", gain.zero_trial_seconds}, {"tuned", gain.tuned_seconds}};
  AddTo(json, gain.ratio);
  if (gain.refused) AddTo(json["refused"], *gain.refused);
  return json;
}

std::optional<GainInTurns> GainFromJson(const nlohmann::json& json) {
  if (!json.is_object()) return std::nullopt;
  GainInTurns gain;
  const std::optional<measure::PairedRatio> ratio = RatioFromJson(json);
  if (!ratio || !ReadPositive(json, "zero_trial", gain.zero_trial_seconds) ||
      !ReadPositive(json, "tuned", gain.tuned_seconds)) {
    return std::nullopt;
  }
  gain.ratio = *ratio;
  const auto refused = json.find("refused");
  if (refused != json.end() && refused->is_object()) gain.refused = RatioFromJson(*refused);
  return gain;
}

}  // namespace bayloom::tuning

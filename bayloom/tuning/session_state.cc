// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/session_state.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/base/json.h"

namespace bayloom::tuning {
namespace {

using Json = nlohmann::json;

/// More trials than any slot has; sums of them do not overflow.
constexpr int64_t kMaxCount = int64_t{1} << 40;

bool IsCount(const Json& json) {
  return json.is_number_integer() && json.get<int64_t>() >= 0 && json.get<int64_t>() <= kMaxCount;
}

bool Read(const Json& object, const char* name, double& seconds) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return false;
  seconds = found->get<double>();
  return std::isfinite(seconds);
}

/// [task, trials, end], or without the end.
std::optional<Slot> ReadSlot(const Json& entry) {
  const bool is_slot = entry.is_array() && (entry.size() == 2 || entry.size() == 3) &&
                       IsCount(entry[0]) && IsCount(entry[1]) &&
                       (entry.size() == 2 || entry[2].is_number());
  if (!is_slot) return std::nullopt;
  return Slot{entry[0].get<int64_t>(), entry[1].get<int64_t>(),
              entry.size() == 2 ? 0 : entry[2].get<double>()};
}

Json PairsOf(const std::map<record::TaskId, double>& numbers) {
  Json pairs = Json::array();
  for (const auto& [task, number] : numbers) pairs.push_back({task, number});
  return pairs;
}

/// False if there are numbers of tasks under the name that no session writes.
bool ReadPairs(const Json& object, const char* name, std::map<record::TaskId, double>& numbers) {
  const auto found = object.find(name);
  if (found == object.end()) return true;
  for (const Json& entry : *found) {
    const bool is_pair = entry.is_array() && entry.size() == 2 && IsCount(entry[0]) &&
                         entry[1].is_number() && entry[1].get<double>() >= 0;
    if (!is_pair) return false;
    numbers[entry[0].get<int64_t>()] = entry[1].get<double>();
  }
  return true;
}

}  // namespace

int64_t SessionState::trials() const {
  int64_t sum = 0;
  for (const Slot& slot : slots) sum += slot.trials;
  return sum;
}

std::string SessionState::ToText() const {
  Json json = {{"seconds", seconds}, {"slots", Json::array()}};
  for (const Slot& slot : slots) json["slots"].push_back({slot.task, slot.trials, slot.end});
  json["phases"] = tuning::ToJson(phases);
  json["weights"] = PairsOf(weights);
  if (!estimates.empty()) json["estimates"] = PairsOf(estimates);
  if (gain) json["gain"] = tuning::ToJson(*gain);
  return json.dump();
}

nlohmann::json ToJson(const run::PhaseTimes& phases) {
  nlohmann::json seconds;
  for (const run::NamedPhase& phase : run::kPhases) seconds[phase.name] = phases.*phase.seconds;
  return seconds;
}

std::optional<SessionState> SessionState::Parse(const std::string& text) {
  const Json json = base::ParseJsonOrDiscard(text);
  if (!json.is_object() || !json.contains("slots") || !json["slots"].is_array()) {
    return std::nullopt;
  }
  SessionState state;
  if (!Read(json, "seconds", state.seconds)) return std::nullopt;
  for (const Json& entry : json["slots"]) {
    const std::optional<Slot> slot = ReadSlot(entry);
    if (!slot) return std::nullopt;
    state.slots.push_back(*slot);
  }
  if (json.contains("phases")) {
    for (const run::NamedPhase& phase : run::kPhases) {
      const bool is_there = json["phases"].is_object() && json["phases"].contains(phase.name);
      if (is_there && !Read(json["phases"], phase.name, state.phases.*phase.seconds)) {
        return std::nullopt;
      }
    }
  }
  if (!ReadPairs(json, "weights", state.weights) ||
      !ReadPairs(json, "estimates", state.estimates)) {
    return std::nullopt;
  }
  if (json.contains("gain")) {
    state.gain = GainFromJson(json["gain"]);
    if (!state.gain) return std::nullopt;
  }
  return state;
}

std::string StateWithoutTrials(const record::RunRecord& run, std::span<const int64_t> ordinals) {
  std::optional<SessionState> state = SessionState::Parse(run.state);
  if (!state) return run.state;
  int64_t first = 0;
  auto next = ordinals.begin();
  for (Slot& slot : state->slots) {
    first += slot.trials;
    for (; next != ordinals.end() && *next < first; ++next) --slot.trials;
  }
  return state->ToText();
}

}  // namespace bayloom::tuning

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/session_state.h"

#include <nlohmann/json.hpp>

namespace bayloom::tuning {

int64_t SessionState::trials() const {
  int64_t sum = 0;
  for (const Slot& slot : slots) sum += slot.trials;
  return sum;
}

std::string SessionState::ToText() const {
  nlohmann::json json = {{"seconds", seconds}, {"slots", nlohmann::json::array()}};
  for (const Slot& slot : slots) json["slots"].push_back({slot.task, slot.trials, slot.end});
  for (const run::NamedPhase& phase : run::kPhases)
    json["phases"][phase.name] = phases.*phase.seconds;
  json["weights"] = nlohmann::json::array();
  for (const auto& [task, weight] : weights) json["weights"].push_back({task, weight});
  return json.dump();
}

std::optional<SessionState> SessionState::Parse(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("seconds") || !json.contains("slots")) {
    return std::nullopt;
  }
  SessionState state;
  state.seconds = json["seconds"];
  for (const nlohmann::json& slot : json["slots"]) {
    state.slots.push_back({slot.at(0), slot.at(1), slot.size() > 2 ? slot[2].get<double>() : 0});
  }
  const nlohmann::json phases = json.value("phases", nlohmann::json::object());
  for (const run::NamedPhase& phase : run::kPhases) {
    state.phases.*phase.seconds = phases.value(phase.name, 0.0);
  }
  for (const nlohmann::json& entry : json.value("weights", nlohmann::json::array())) {
    state.weights[entry.at(0)] = entry.at(1);
  }
  return state;
}

}  // namespace bayloom::tuning

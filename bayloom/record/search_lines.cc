#include "bayloom/record/search_lines.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bayloom/record/json_text.h"

namespace bayloom {

using Json = nlohmann::json;

Json SearchToJson(const SearchRecord& search) {
  return {{"type", "search"},
          {"uuid", search.uuid},
          {"name", search.name},
          {"scenario", search.scenario},
          {"objective", search.objective},
          {"maximize", search.maximize},
          {"optimizer", search.optimizer},
          {"seed", search.seed},
          {"started", search.started},
          {"finished", search.finished}};
}

SearchRecord SearchFromJson(const Json& json) {
  SearchRecord search;
  json.at("uuid").get_to(search.uuid);
  json.at("name").get_to(search.name);
  json.at("scenario").get_to(search.scenario);
  json.at("objective").get_to(search.objective);
  json.at("maximize").get_to(search.maximize);
  json.at("optimizer").get_to(search.optimizer);
  json.at("seed").get_to(search.seed);
  json.at("started").get_to(search.started);
  json.at("finished").get_to(search.finished);
  return search;
}

Json SearchTrialToJson(const ConfigurationTrial& trial, const std::string& search_uuid) {
  const Outcome& outcome = trial.outcome;
  return {{"type", "search_trial"},
          {"search", search_uuid},
          {"ordinal", trial.ordinal},
          {"configuration", EmbedJson(trial.configuration)},
          {"verdict", std::string(ToString(outcome.verdict))},
          {"value", outcome.value},
          {"reason", outcome.reason},
          {"build_seconds", outcome.build_seconds},
          {"measure_seconds", outcome.measure_seconds},
          {"elapsed", trial.elapsed},
          {"timestamp", trial.timestamp}};
}

ConfigurationTrial SearchTrialFromJson(const Json& json) {
  ConfigurationTrial trial;
  json.at("ordinal").get_to(trial.ordinal);
  if (!json.at("configuration").is_object()) {
    throw std::invalid_argument("a configuration is an object");
  }
  trial.configuration = json.at("configuration").dump();
  const std::string verdict = json.at("verdict").get<std::string>();
  const std::optional<Verdict> parsed = ParseVerdict(verdict);
  if (!parsed) throw std::invalid_argument(fmt::format("unknown verdict '{}'", verdict));
  trial.outcome.verdict = *parsed;
  trial.outcome.value = RealFromJson(json.at("value"));
  json.at("reason").get_to(trial.outcome.reason);
  trial.outcome.build_seconds = RealFromJson(json.at("build_seconds"));
  trial.outcome.measure_seconds = RealFromJson(json.at("measure_seconds"));
  json.at("elapsed").get_to(trial.elapsed);
  json.at("timestamp").get_to(trial.timestamp);
  return trial;
}

}  // namespace bayloom

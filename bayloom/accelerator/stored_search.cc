// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/stored_search.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::accelerator {

namespace {

/// A definition, with texts that may be missing.
class Definition {
 public:
  explicit Definition(const record::RunRecord& run)
      : run_(run), json_(base::ParseJsonOrDiscard(run.definition)) {}

  std::string Text(const char* key) const {
    const bool is_there = json_.is_object() && json_.contains(key) && json_[key].is_string();
    return is_there ? json_[key].get<std::string>() : "";
  }
  const nlohmann::json& json() const { return json_; }

  /// What both kinds of runs have.
  template <typename Stored>
  void ReadInto(Stored& stored) const {
    stored.architecture = mapspace::ParseArchitectureYaml(Text("architecture"), run_.name);
    if (const std::string constraints = Text("constraints"); !constraints.empty()) {
      stored.constraints = mapspace::ParseConstraintsYaml(constraints, run_.name);
    }
    if (Text("reuse") == "timeloop") stored.counting = mapspace::ReuseCounting::kTimeloop;
    stored.evaluator = Text("evaluator");
  }

 private:
  const record::RunRecord& run_;
  nlohmann::json json_;
};

}  // namespace

StoredSearch ReadStoredSearch(const record::RunRecord& run) {
  const Definition definition(run);
  if (run.kind != record::RunKind::kMap || definition.Text("problem").empty()) {
    throw InputError(fmt::format("run {} is no mapping of an operation", run.id));
  }
  StoredSearch search;
  search.problem = mapspace::ParseProblemYaml(definition.Text("problem"), run.name);
  definition.ReadInto(search);
  return search;
}

StoredNetwork ReadStoredNetwork(const record::RunRecord& run) {
  const Definition definition(run);
  const auto refuse = [&] {
    throw InputError(fmt::format("run {} is no mapping of a network's layers", run.id));
  };
  const nlohmann::json& json = definition.json();
  const bool has_layers = run.kind == record::RunKind::kMap && json.is_object() &&
                          json.contains("layers") && json["layers"].is_array();
  if (!has_layers) refuse();
  StoredNetwork network;
  for (const nlohmann::json& layer : json["layers"]) {
    const bool is_layer = layer.is_object() && layer.contains("run") && layer["run"].is_string() &&
                          layer.contains("name") && layer["name"].is_string() &&
                          layer.contains("count") && layer["count"].is_number_integer();
    if (!is_layer) refuse();
    network.layers.push_back({layer["name"].get<std::string>(), layer["count"].get<int>(),
                              layer["run"].get<std::string>()});
  }
  definition.ReadInto(network);
  if (definition.Text("mappings") == "uneven") network.mappings = mapspace::MappingKind::kUneven;
  return network;
}

}  // namespace bayloom::accelerator

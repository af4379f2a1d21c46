// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/record/store.h"
#include "tests/record/sample.h"

namespace bayloom::page {

/// Text that a page must not take for its own, and a terminal not for commands.
inline const std::string kHostile =
    "</script><script>alert(1)</script>\"'&<!--\x1b[2J\n\x01\xff\xe2\x80\xae";

inline record::RunRecord HostileSearch() {
  record::RunRecord run = record::SampleSearch(kHostile);
  run.objective = run.proposer = kHostile;
  return run;
}

/// A trial with hostile text wherever a trial has text.
inline record::StoredTrial HostileTrial(record::RunId run, int64_t ordinal) {
  record::StoredTrial trial = record::MakeConfiguration(run, ordinal, 1);
  trial.proposer = kHostile;
  trial.candidate = nlohmann::json{{"</script>", "<b>\x01" + std::to_string(ordinal)}}.dump();
  trial.outcome = trial::Outcome::Infeasible(trial::Verdict::kCrash, kHostile);
  trial.outcome.Set("<i>", 1);
  return trial;
}

/// The trials of a document as rows {run, trial, value, verdict, reason, ...}, chunk by chunk.
inline std::vector<nlohmann::json> RowsOf(const nlohmann::json& document) {
  using Json = nlohmann::json;
  std::vector<Json> rows;
  for (const Json& chunk : document.at("trials")) {
    const auto text = [&](const char* places, const char* texts, size_t row) {
      return chunk.at(texts).at(chunk.contains(places) ? chunk.at(places).at(row).get<size_t>()
                                                       : 0);
    };
    for (size_t i = 0; i < chunk.at("count").get<size_t>(); ++i) {
      Json row = {{"run", chunk.at("run")},
                  {"trial", chunk.contains("ordinal")
                                ? chunk.at("ordinal").at(i).get<int64_t>()
                                : chunk.at("first").get<int64_t>() + static_cast<int64_t>(i)},
                  {"value", chunk.at("value").at(i)},
                  {"elapsed", chunk.at("elapsed").at(i)},
                  {"task", chunk.contains("task") ? chunk.at("task").at(i) : Json(0)},
                  {"verdict", text("verdict", "verdicts", i)},
                  {"reason", text("reason", "reasons", i)},
                  {"proposer", text("proposer", "proposers", i)},
                  {"details", Json::object()},
                  {"parameters", Json::object()}};
      for (const char* group : {"details", "parameters"}) {
        if (!chunk.contains(group)) continue;
        for (const auto& [name, column] : chunk.at(group).items()) {
          if (!column.at(i).is_null()) row[group][name] = column.at(i);
        }
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// Puts a document since a cursor to what was known before, as a page does.
inline void Merge(nlohmann::json& known, const nlohmann::json& news) {
  for (const auto& [list, items] : news.items()) {
    if (!items.is_array()) {
      known[list] = items;
      continue;
    }
    if (!known.contains(list)) known[list] = nlohmann::json::array();
    for (const nlohmann::json& item : items) {
      nlohmann::json* place = nullptr;
      for (nlohmann::json& other : known[list]) {
        if (list != "trials" && other.at("id") == item.at("id")) place = &other;
      }
      place ? void(*place = item) : known[list].push_back(item);
    }
  }
}

/// The item of a list with this id.
inline nlohmann::json ItemOf(const nlohmann::json& document, const std::string& list,
                             const nlohmann::json& id) {
  for (const nlohmann::json& item : document.at(list)) {
    if (item.at("id") == id) return item;
  }
  return {};
}

}  // namespace bayloom::page

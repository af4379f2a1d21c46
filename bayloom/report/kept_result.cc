// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/kept_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/json.h"
#include "bayloom/report/printable.h"

namespace bayloom::report {
namespace {

/// The state of a mapping's run; null where it has none.
nlohmann::json StateOf(const record::RunRecord& run) {
  if (run.kind != record::RunKind::kMap || run.state.empty()) return {};
  nlohmann::json state = base::ParseJsonOrDiscard(run.state);
  return state.is_object() ? state : nlohmann::json();
}

std::string TextIn(const nlohmann::json& json, const char* key) {
  const bool is_there = json.is_object() && json.contains(key) && json[key].is_string();
  return is_there ? json[key].get<std::string>() : "";
}

}  // namespace

std::string KeptResult::Text() const {
  std::string text;
  for (const Part& part : parts) {
    if (!text.empty()) text += "\n";
    if (!part.title.empty()) text += InLines(part.title) + ":\n";
    text += fmt::format("{}\n{}\n", part.table.Text(), InLines(part.totals));
  }
  return text;
}

nlohmann::json ToJson(const KeptResult& result) {
  nlohmann::json parts = nlohmann::json::array();
  for (const KeptResult::Part& part : result.parts) {
    parts.push_back({{"title", part.title}, {"table", part.table.Kept()}, {"totals", part.totals}});
  }
  return {{"summary", result.summary}, {"parts", parts}};
}

std::optional<KeptResult> KeptResultOf(const record::RunRecord& run) {
  const nlohmann::json state = StateOf(run);
  if (!state.is_object() || !state.contains("result")) return std::nullopt;
  const nlohmann::json& json = state["result"];
  if (!json.is_object() || !json.contains("parts") || !json["parts"].is_array()) {
    return std::nullopt;
  }
  KeptResult result = {.summary = TextIn(json, "summary"), .parts = {}};
  for (const nlohmann::json& part : json["parts"]) {
    if (!part.is_object() || !part.contains("table")) return std::nullopt;
    std::optional<Table> table = Table::FromKept(part["table"]);
    if (!table) return std::nullopt;
    result.parts.push_back({TextIn(part, "title"), *std::move(table), TextIn(part, "totals")});
  }
  return result;
}

std::vector<record::RunId> LayerRunsOf(const record::RunRecord& run,
                                       const std::vector<record::RunRecord>& all) {
  std::vector<record::RunId> layers;
  const nlohmann::json state = StateOf(run);
  if (!state.is_object() || !state.contains("layers") || !state["layers"].is_array()) return layers;
  for (const nlohmann::json& uuid : state["layers"]) {
    const auto found = std::ranges::find_if(all, [&](const record::RunRecord& each) {
      return uuid.is_string() && each.uuid == uuid.get<std::string>();
    });
    if (found != all.end()) layers.push_back(found->id);
  }
  return layers;
}

}  // namespace bayloom::report

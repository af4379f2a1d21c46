// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/trial_columns.h"

#include <algorithm>
#include <cmath>

#include "bayloom/base/json.h"
#include "bayloom/page/sanitized.h"

namespace bayloom::page {
namespace {

using Json = nlohmann::json;

/// Columns of named values or of parameters at most: each trial may have names of its own.
constexpr size_t kMaxColumns = 256;
/// Of named values: what is measured beside the objective is not known to more digits.
constexpr int kDetailDigits = 4;
constexpr double kMillisecond = 1e-3;

Json RoundedTo(int digits, double value) {
  if (!std::isfinite(value)) return {};
  if (value == 0) return 0;
  const double scale = std::pow(10, digits - 1 - std::floor(std::log10(std::abs(value))));
  const double rounded = std::round(value * scale) / scale;
  return std::isfinite(rounded) ? rounded : value;
}

/// A parameter's value: a number, or a text of one line.
Json Flat(const Json& value) {
  if (value.is_number() || value.is_null()) return value;
  return Sanitized(value.is_string() ? value.get<std::string>() : value.dump());
}

Json Filled(std::vector<Json> column, size_t count) {
  column.resize(count);
  return column;
}

Json FilledColumns(const std::map<std::string, std::vector<Json>>& columns, size_t count) {
  Json json = Json::object();
  for (const auto& [name, column] : columns) json[name] = Filled(column, count);
  return json;
}

bool AreConsecutive(const std::vector<int64_t>& ordinals) {
  for (size_t i = 1; i < ordinals.size(); ++i) {
    if (ordinals[i - 1] != ordinals[i] - 1) return false;
  }
  return true;
}

}  // namespace

void TrialColumns::SharedTexts::Add(const std::string& text) {
  const auto [found, is_new] = places.try_emplace(text, static_cast<int>(texts.size()));
  if (is_new) texts.push_back(text);
  column.push_back(found->second);
}

void TrialColumns::Set(std::map<std::string, Column>& columns, const std::string& name,
                       Json value) {
  const auto found = columns.find(name);
  if (found == columns.end() && columns.size() >= kMaxColumns) return;
  Column& column = found == columns.end() ? columns[name] : found->second;
  column.resize(count_ - 1);  // rows without it are null
  column.push_back(std::move(value));
}

void TrialColumns::AddParameters(const std::string& candidate) {
  const Json configuration = base::ParseJsonOrDiscard(candidate);
  if (!configuration.is_object()) return;
  for (const auto& [name, value] : configuration.items()) {
    Set(parameters_, Sanitized(name), Flat(value));
  }
}

void TrialColumns::Add(const record::StoredTrial& trial) {
  ++count_;
  ordinals_.push_back(trial.ordinal);
  tasks_.push_back(trial.task);
  const trial::Outcome& outcome = trial.outcome;
  const bool has_value = outcome.ok() && std::isfinite(outcome.value);
  values_.push_back(has_value ? Json(outcome.value) : Json());
  elapsed_.push_back(std::isfinite(trial.elapsed)
                         ? Json(std::round(trial.elapsed / kMillisecond) * kMillisecond)
                         : Json());
  verdicts_.Add(std::string(trial::ToString(outcome.verdict)));
  reasons_.Add(Sanitized(outcome.reason));
  proposers_.Add(Sanitized(trial.proposer));
  for (const trial::NamedValue& named : outcome.values) {
    Set(details_, Sanitized(named.name), RoundedTo(kDetailDigits, named.value));
  }
  if (has_parameters_) AddParameters(trial.candidate);
}

nlohmann::json TrialColumns::ToJson() const {
  Json json = {{"count", count_}, {"value", values_}, {"elapsed", elapsed_}};
  if (count_ > 0) json["first"] = ordinals_.front();
  if (!AreConsecutive(ordinals_)) json["ordinal"] = ordinals_;
  if (std::ranges::any_of(tasks_, [](int64_t task) { return task != 0; })) json["task"] = tasks_;
  const auto add_shared = [&](const char* name, const char* names, const SharedTexts& shared) {
    json[names] = shared.texts;
    if (shared.texts.size() > 1) json[name] = shared.column;
  };
  add_shared("verdict", "verdicts", verdicts_);
  add_shared("reason", "reasons", reasons_);
  add_shared("proposer", "proposers", proposers_);
  json["details"] = FilledColumns(details_, count_);
  if (has_parameters_) json["parameters"] = FilledColumns(parameters_, count_);
  return json;
}

}  // namespace bayloom::page

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/recorded_space.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "bayloom/base/json.h"
#include "bayloom/base/path_error.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/search/kernel_tuner_cache.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::search {
namespace {

using Json = nlohmann::json;

/// One spelling for each value: 16, 16.0 and true = 1 are the same, as they are to Python; caches
/// of Kernel Tuner have lists as text.
Json CanonicalValue(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  const auto is_whole_number = [](const Json& item) { return item.is_number_integer(); };
  if (value.is_array() && std::all_of(value.begin(), value.end(), is_whole_number)) {
    return space::ToString(space::Value(value.get<std::vector<int64_t>>()));
  }
  if (!value.is_number_float()) return value;
  const double real = value.get<double>();
  const bool is_whole = std::abs(real) < 1e15 && real == std::trunc(real);
  return is_whole ? Json(static_cast<int64_t>(real)) : value;
}

std::string CanonicalText(const Json& configuration) {
  Json canonical = Json::object();  // sorted by name
  for (const auto& [name, value] : configuration.items()) canonical[name] = CanonicalValue(value);
  return canonical.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The record as space::ToJson has its configuration: without values of inactive parameters. As it
/// is if it is no configuration of the space.
Json WithoutInactive(Json record, const space::Space& space) {
  Json values = Json::object();
  for (const auto& [name, value] : record.items()) {
    const int i = space.IndexOf(name);
    const bool is_list = i >= 0 && space.parameter(i).ElementCount() > 0 && value.is_string();
    const Json list = is_list ? base::ParseJsonOrDiscard(value.get<std::string>()) : Json();
    values[name] = list.is_array() ? list : value.is_array() ? value : CanonicalValue(value);
  }
  const Result<space::Configuration> configuration = space::FromJson(space, values);
  if (!configuration) return record;
  for (int i = 0; i < space.size(); ++i) {
    if (!space.IsActive(*configuration, i)) record.erase(space.parameter(i).name());
  }
  return record;
}

trial::Verdict VerdictOf(const std::string& invalidity) {
  if (invalidity == "compile") return trial::Verdict::kBuildError;
  if (invalidity == "timeout") return trial::Verdict::kTimeout;
  if (invalidity == "correctness") return trial::Verdict::kWrongOutput;
  return trial::Verdict::kCrash;
}

double SumOf(const Json& value) {
  if (value.is_number()) return value.get<double>();
  double sum = 0;
  if (value.is_array()) {
    for (const Json& item : value) sum += item.is_number() ? item.get<double>() : 0;
  }
  return sum;
}

/// What was measured of a configuration; nullopt where it is no finite number. This and what
/// follows throw std::runtime_error or a JSON exception with what is wrong with the record.
std::optional<double> MeasurementOf(const Json& record, const std::string& name) {
  const Json& measurements = record.at("measurements");
  const auto found = std::find_if(measurements.begin(), measurements.end(),
                                  [&](const Json& m) { return m.at("name") == Json(name); });
  if (found == measurements.end()) {
    throw std::runtime_error(fmt::format("has no measurement '{}'", base::SingleLine(name)));
  }
  const Json& value = found->at("value");
  if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
  return value.get<double>();
}

trial::Outcome ReadOutcome(const Json& record, std::span<const std::string> measurements) {
  const std::string invalidity = record.value("invalidity", "correct");
  trial::Outcome outcome;
  if (invalidity != "correct") {
    outcome = trial::Outcome::Infeasible(
        VerdictOf(invalidity),
        fmt::format("recorded as invalid: {}", base::SingleLine(invalidity)));
  } else {
    std::optional<double> value = MeasurementOf(record, measurements[0]);
    if (value) outcome.value = *value;
    for (const std::string& name : measurements.subspan(1)) {
      if (value) value = MeasurementOf(record, name);
      if (value) outcome.Set(name, *value);
    }
    if (!value) {
      outcome = trial::Outcome::Infeasible(trial::Verdict::kCrash, "recorded without a value");
    }
  }
  if (const auto times = record.find("times"); times != record.end() && times->is_object()) {
    constexpr double kMilliseconds = 1e-3;
    outcome.Set("build_seconds", kMilliseconds * SumOf(times->value("compilation", Json(0))));
    outcome.Set("measure_seconds", kMilliseconds * (SumOf(times->value("runtimes", Json(0))) +
                                                    SumOf(times->value("validation", Json(0))) +
                                                    SumOf(times->value("framework", Json(0)))));
  }
  return outcome;
}

/// The first objective of the first record.
std::string FirstObjective(const Json& results) {
  const Json& objectives = results.at(0).at("objectives");
  return objectives.at(0).get<std::string>();
}

}  // namespace

std::string ReadMaybeGzipped(const std::string& path, size_t max_bytes) {
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rbe"), gzclose);
  if (!file) base::ThrowPathError(fmt::format("cannot read '{}'", path), errno);
  std::string text;
  std::string buffer(size_t{1} << 18, '\0');
  int bytes;
  while ((bytes = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    text.append(buffer, 0, static_cast<size_t>(bytes));
    if (text.size() > max_bytes) {
      throw InputError(
          fmt::format("cannot use '{}': it is larger than {} MiB", path, max_bytes >> 20));
    }
  }
  int code = Z_OK;
  const char* problem = gzerror(file.get(), &code);
  if (code == Z_ERRNO) base::ThrowPathError(fmt::format("cannot read '{}'", path), errno);
  if (code != Z_OK) {
    throw InputError(fmt::format("cannot read '{}': {}", path, base::SingleLine(problem)));
  }
  return text;
}

RecordedSpace RecordedSpace::Load(const std::string& path, std::vector<std::string> measurements,
                                  const space::Space* searched) {
  std::string text = ReadMaybeGzipped(path);
  if (LooksLikeKernelTunerCache(text)) text = ClosedKernelTunerCache(std::move(text));
  RecordedSpace space;
  const bool has_conditions = searched != nullptr && !searched->conditions().empty();
  const auto text_of = [&](const Json& configuration) {
    return CanonicalText(has_conditions ? WithoutInactive(configuration, *searched)
                                        : configuration);
  };
  size_t number = 0;
  try {
    const Result<Json> parsed = base::ParsePythonJson(text);
    if (!parsed) throw std::runtime_error(parsed.error().message);
    const Json& json = *parsed;
    if (IsKernelTunerCache(json)) {
      if (measurements[0].empty()) measurements[0] = KernelTunerObjective(json);
      space.measurement_ = measurements[0];
      for (const Json& entry : json["cache"]) {
        ++number;
        space.outcomes_.emplace(text_of(KernelTunerConfiguration(json, entry)),
                                KernelTunerOutcome(entry, measurements));
      }
      if (number == 0) throw std::runtime_error("the cache is empty");
      return space;
    }
    const Json& results = json.at("results");
    if (!results.is_array() || results.empty()) {
      throw std::runtime_error("expected a list of results that is not empty");
    }
    if (measurements[0].empty()) measurements[0] = FirstObjective(results);
    space.measurement_ = measurements[0];
    for (const Json& record : results) {
      ++number;
      const Json& configuration = record.at("configuration");
      if (!configuration.is_object()) throw std::runtime_error("the configuration is no object");
      // The first of several records counts.
      space.outcomes_.emplace(text_of(configuration), ReadOutcome(record, measurements));
    }
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("cannot use '{}': {}{}", path,
                                 number > 0 ? fmt::format("result {}: ", number) : "",
                                 base::JsonErrorText(error.what())));
  } catch (const std::runtime_error& error) {
    throw InputError(fmt::format("cannot use '{}': {}{}", path,
                                 number > 0 ? fmt::format("result {}: ", number) : "",
                                 error.what()));
  }
  return space;
}

trial::Outcome RecordedSpace::OutcomeOf(const nlohmann::json& configuration) const {
  const auto found = outcomes_.find(CanonicalText(configuration));
  if (found != outcomes_.end()) return found->second;
  return trial::Outcome::Infeasible(trial::Verdict::kBuildError,
                                    "there is no record of this configuration");
}

std::vector<std::pair<nlohmann::json, trial::Outcome>> RecordedSpace::Records() const {
  std::vector<const std::string*> texts;
  for (const auto& [text, outcome] : outcomes_) texts.push_back(&text);
  std::ranges::sort(texts, {}, [](const std::string* text) -> const std::string& { return *text; });
  std::vector<std::pair<nlohmann::json, trial::Outcome>> records;
  for (const std::string* text : texts) {
    records.emplace_back(base::ParseJsonOrDiscard(*text), outcomes_.at(*text));
  }
  return records;
}

bool RecordedSpace::HasParameter(const std::string& name) const {
  return !outcomes_.empty() && base::ParseJsonOrDiscard(outcomes_.begin()->first).contains(name);
}

int64_t RecordedSpace::CountFeasible() const {
  return std::count_if(outcomes_.begin(), outcomes_.end(),
                       [](const auto& entry) { return entry.second.ok(); });
}

double RecordedSpace::Min() const {
  double least = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [text, outcome] : outcomes_) {
    if (outcome.ok() && !(outcome.value >= least)) least = outcome.value;
  }
  return least;
}

double RecordedSpace::Max() const {
  double greatest = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [text, outcome] : outcomes_) {
    if (outcome.ok() && !(outcome.value <= greatest)) greatest = outcome.value;
  }
  return greatest;
}

}  // namespace bayloom::search

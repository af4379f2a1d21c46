// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/kernel_tuner_cache.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"

namespace bayloom::search {
namespace {

constexpr char kJsonBlanks[] = " \t\r\n";

/// How Kernel Tuner names its failures, in "__error__" or, in older files, as the value.
std::optional<trial::Verdict> FailureNamed(const nlohmann::json& value) {
  if (value == "CompilationFailedConfig" || value == "InvalidConfig") {
    return trial::Verdict::kBuildError;
  }
  if (value == "RuntimeFailedConfig" || value == "ErrorConfig") return trial::Verdict::kCrash;
  return std::nullopt;
}

trial::Outcome Failed(trial::Verdict verdict, const nlohmann::json& name) {
  return trial::Outcome::Infeasible(verdict,
                                    "recorded as " + base::SingleLine(name.get<std::string>()));
}

double MillisecondsIn(const nlohmann::json& entry, const char* name) {
  const auto found = entry.find(name);
  return found != entry.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

bool LooksLikeKernelTunerCache(const std::string& text) {
  const size_t first = text.find_first_not_of(kJsonBlanks);
  return first != std::string::npos && text[first] == '{' &&
         text.find("\"tune_params_keys\"") != std::string::npos;
}

std::string ClosedKernelTunerCache(std::string text) {
  constexpr int kInFile = 1, kInCache = 2;
  int depth = 0;
  bool is_cache = false;
  size_t text_begin = 0, text_end = 0;  // of the last text that ended, within its quotes
  size_t complete = std::string::npos;  // behind the last entry that ended
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      text_begin = ++i;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      text_end = i;
    } else if (c == '{' || c == '[') {
      if (++depth == kInCache) {
        is_cache = std::string_view(text).substr(text_begin, text_end - text_begin) == "cache";
      }
      if (depth == kInCache && is_cache) complete = i + 1;
    } else if (c == '}' || c == ']') {
      if (--depth == kInCache && is_cache) complete = i + 1;
    }
  }
  if (depth < kInFile || complete == std::string::npos) return text;
  return text.replace(complete, std::string::npos, "}}");
}

std::string KernelTunerCacheHeader(const std::string& text, const std::string& path) {
  Result<nlohmann::json> file = base::ParsePythonJson(ClosedKernelTunerCache(text));
  if (!file) throw InputError(fmt::format("cannot use '{}': {}", path, file.error().message));
  file->erase("cache");
  return file->dump();
}

bool IsKernelTunerCache(const nlohmann::json& file) {
  const auto has = [&file](const char* name, auto is) {
    const auto found = file.find(name);
    return found != file.end() && is(*found);
  };
  return file.is_object() &&
         has("tune_params_keys", [](const nlohmann::json& keys) { return keys.is_array(); }) &&
         has("cache", [](const nlohmann::json& cache) { return cache.is_object(); });
}

std::string KernelTunerObjective(const nlohmann::json& file) {
  const auto found = file.find("objective");
  if (found == file.end() || found->empty()) return "time";
  const nlohmann::json& first = found->is_array() ? found->at(0) : *found;
  return first.is_string() ? first.get<std::string>() : "time";
}

nlohmann::json KernelTunerConfiguration(const nlohmann::json& file, const nlohmann::json& entry) {
  nlohmann::json configuration = nlohmann::json::object();
  for (const nlohmann::json& key : file.at("tune_params_keys")) {
    const auto name = key.get<std::string>();
    configuration[name] = entry.at(name);
  }
  return configuration;
}

trial::Outcome KernelTunerOutcome(const nlohmann::json& entry,
                                  std::span<const std::string> measurements) {
  const auto read = [&entry](const std::string& name) -> const nlohmann::json& {
    const auto found = entry.find(name);
    if (found == entry.end()) {
      throw std::runtime_error(fmt::format("has no measurement '{}'", base::SingleLine(name)));
    }
    return *found;
  };
  trial::Outcome outcome;
  const auto error = entry.find("__error__");
  if (error != entry.end() && error->is_string()) {
    outcome = Failed(FailureNamed(*error).value_or(trial::Verdict::kCrash), *error);
  } else if (const auto verdict = FailureNamed(read(measurements[0]))) {
    outcome = Failed(*verdict, read(measurements[0]));
  } else {
    const auto finite = [](const nlohmann::json& value) {
      return value.is_number() && std::isfinite(value.get<double>());
    };
    bool has_values = true;
    for (const std::string& name : measurements) has_values = finite(read(name)) && has_values;
    if (has_values) {
      outcome.value = read(measurements[0]).get<double>();
      for (const std::string& name : measurements.subspan(1))
        outcome.Set(name, read(name).get<double>());
    } else {
      outcome = trial::Outcome::Infeasible(trial::Verdict::kCrash, "recorded without a value");
    }
  }
  constexpr double kMilliseconds = 1e-3;
  outcome.Set("build_seconds", kMilliseconds * MillisecondsIn(entry, "compile_time"));
  outcome.Set("measure_seconds", kMilliseconds * (MillisecondsIn(entry, "benchmark_time") +
                                                  MillisecondsIn(entry, "verification_time") +
                                                  MillisecondsIn(entry, "framework_time")));
  return outcome;
}

}  // namespace bayloom::search

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/scenario.h"

#include <fmt/format.h>

#include <filesystem>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/search/code_constraint.h"
#include "bayloom/search/kernel_tuner_cache.h"
#include "bayloom/search/recorded_space.h"
#include "bayloom/search/scenario_overrides.h"
#include "bayloom/search/scenario_readers.h"
#include "bayloom/search/space_reader.h"

namespace bayloom::search {

bool Scenario::IsFull(const space::Configuration& configuration) const {
  if (!optimizer_options.fidelity) return true;
  return optimizer::IsLastFidelity(*space, configuration);
}

namespace {

/// `name`: of a context, or empty.
Scenario Read(const std::string& text, const std::string& path,
              std::span<const CodeConstraint> constraints, const std::string& name) {
  const yaml::YamlValue top = yaml::YamlValue::Parse(text, path);
  const std::filesystem::path file(path);
  Scenario scenario;
  scenario.name = base::SingleLine(file.stem().string(), base::kMaxPathBytes);
  scenario.text = text;
  scenario.evaluator.here =
      std::filesystem::absolute(file.parent_path().empty() ? "." : file.parent_path())
          .lexically_normal()
          .string();
  SpaceReader space(constraints);
  if (top.Find("input_parameters")) {
    ReadHyperMapperScenario(top, space, scenario);
  } else if (top.Find("ConfigurationSpace")) {
    ReadKernelTunerSpace(top, space, scenario);
  } else if (top.Find("tune_params_keys")) {
    ReadKernelTunerCache(top, space, scenario);
  } else {
    ReadOwnScenario(top, space, scenario, name);
  }
  scenario.default_configuration = scenario.space->Default();
  return scenario;
}

}  // namespace

std::vector<Scenario> EachContext(Scenario scenario) {
  if (!scenario.contexts.empty()) return std::move(scenario.contexts);
  std::vector<Scenario> alone;
  alone.push_back(std::move(scenario));
  return alone;
}

Scenario ParseScenario(const std::string& text, const std::string& path) {
  return Read(text, path, {}, "");
}

Scenario ParseScenario(const std::string& text, const std::string& path, const std::string& name) {
  Scenario scenario = Read(text, path, {}, name);
  scenario.name = name;
  return scenario;
}

Scenario ParseScenario(const std::string& text, const std::string& path,
                       std::span<const CodeConstraint> constraints) {
  return Read(text, path, constraints, "");
}

Scenario LoadScenario(const std::string& path) {
  const std::string text = ReadMaybeGzipped(path);
  if (!LooksLikeKernelTunerCache(text)) {
    if (text.size() > base::kMaxTextBytes) {
      throw InputError(fmt::format("cannot use '{}': it is larger than {} MiB", path,
                                   base::kMaxTextBytes >> 20));
    }
    return ParseScenario(text, path);
  }
  // Its space is that of the file, and its configurations are looked up there.
  Scenario scenario = ParseScenario(KernelTunerCacheHeader(text, path), path);
  OverrideRecorded(path, scenario);
  return scenario;
}

}  // namespace bayloom::search

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/external/scenario.h"

#include <filesystem>

#include "bayloom/external/internal/scenario_readers.h"
#include "bayloom/external/recorded_space.h"

namespace bayloom::external {
Scenario ParseScenario(const std::string& text, const std::string& path) {
  const yaml::YamlValue top = yaml::YamlValue::Parse(text, path);
  const std::filesystem::path file(path);
  Scenario scenario;
  scenario.name = file.stem().string();
  scenario.text = text;
  scenario.evaluator.here =
      std::filesystem::absolute(file.parent_path().empty() ? "." : file.parent_path())
          .lexically_normal()
          .string();
  if (top.Find("input_parameters")) {
    ReadHyperMapperScenario(top, scenario);
  } else if (top.Find("ConfigurationSpace")) {
    ReadKernelTunerSpace(top, scenario);
  } else {
    ReadOwnScenario(top, scenario);
  }
  scenario.default_configuration = scenario.space->Default();
  return scenario;
}

Scenario LoadScenario(const std::string& path) {
  return ParseScenario(ReadMaybeGzipped(path), path);
}

}  // namespace bayloom::external

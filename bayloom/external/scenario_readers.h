#pragma once

#include "bayloom/external/scenario.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom {

// The dialects of scenario files; LoadScenario chooses. Each fills in what its files say.

void ReadOwnScenario(const YamlValue& top, Scenario& scenario);
void ReadHyperMapperScenario(const YamlValue& top, Scenario& scenario);
void ReadKernelTunerSpace(const YamlValue& top, Scenario& scenario);

/// A parameter of this project's own form.
std::unique_ptr<Parameter> ReadParameter(const std::string& name, const YamlValue& field);

/// The `evaluator` of this project's own form, for a scenario whose space and objective are known.
void ReadEvaluator(const YamlValue& field, Scenario& scenario);

/// The value of a parameter as a file gives it: a scalar, or a list of whole numbers.
Value ReadValue(const YamlValue& field);

}  // namespace bayloom

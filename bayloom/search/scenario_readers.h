// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/search/scenario.h"
#include "bayloom/search/space_reader.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::search {

// The dialects of scenario files; LoadScenario chooses. Each fills in what its files say, the space
// by the reader.

void ReadOwnScenario(const yaml::YamlValue& top, SpaceReader& space, Scenario& scenario);
void ReadHyperMapperScenario(const yaml::YamlValue& top, SpaceReader& space, Scenario& scenario);
void ReadKernelTunerSpace(const yaml::YamlValue& top, SpaceReader& space, Scenario& scenario);
/// A cache file of Kernel Tuner without its configurations.
void ReadKernelTunerCache(const yaml::YamlValue& top, SpaceReader& space, Scenario& scenario);

/// A parameter of this project's own form.
std::unique_ptr<space::Parameter> ReadParameter(const std::string& name,
                                                const yaml::YamlValue& field);

/// The metric of permutations that the field's `key` names; Spearman's if there is none.
space::PermutationMetric ReadMetric(const yaml::YamlValue& field, const char* key);

/// The `evaluator` of this project's own form, for a scenario whose space and objective are known.
void ReadEvaluator(const yaml::YamlValue& field, Scenario& scenario);

/// The same of a kernel (docs/kernels.md).
void ReadKernel(const yaml::YamlValue& field, Scenario& scenario);

/// A path that a file names: relative ones start from the scenario's folder.
std::string PathFrom(const std::string& here, const std::string& path);

/// Arguments with holes for parameters, as a list or in one line that is split as a shell would.
std::vector<TextTemplate> ReadTemplates(const yaml::YamlValue& field, const space::Space& space);

/// A parameter of which only the values are given, in a list: numbers, texts or truth values.
std::unique_ptr<space::Parameter> ReadListParameter(const std::string& name,
                                                    const yaml::YamlValue& values);

/// The value of a parameter as a file gives it: a scalar, or a list of whole numbers.
space::Value ReadValue(const yaml::YamlValue& field);

}  // namespace bayloom::search

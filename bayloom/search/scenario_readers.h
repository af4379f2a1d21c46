// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/search/scenario.h"
#include "bayloom/search/space_reader.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::search {

// The dialects of scenario files; LoadScenario chooses. Each fills in what its files say, the space
// by the reader.

/// `context`: the name of the only context to be read, if it has contexts of which one is called
/// so; else all of them are.
void ReadOwnScenario(const yaml::YamlValue& top, SpaceReader& space, Scenario& scenario,
                     const std::string& context);
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

/// A context of a scenario: a value of each of the parameters that `contexts` names.
struct ContextValues {
  std::vector<std::pair<std::string, space::Value>> values;

  /// "M=64 N=128".
  std::string Text() const;
};

/// All contexts that the field names: each value with each of the others'.
std::vector<ContextValues> ReadContexts(const yaml::YamlValue& field);
/// Adds their values to the parameters, as the last ones: all, or of `only` this one.
void AddContexts(const yaml::YamlValue& field, const ContextValues* only, SpaceReader& space);

/// The value of a parameter as a file gives it: a scalar, or a list of whole numbers.
space::Value ReadValue(const yaml::YamlValue& field);

}  // namespace bayloom::search

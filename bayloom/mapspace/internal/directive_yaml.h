// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {

/// A list of directives; refuses what is no directive.
std::vector<Directive> ReadDirectives(const yaml::YamlValue& list);

/// What a map says of one level: `factors`, `permutation`, `split`, `keep`, `bypass`. A split
/// beyond all dimensions is as good as all of them.
Directive ReadDirective(const yaml::YamlValue& item, Directive::Kind kind, std::string target);

}  // namespace bayloom::mapspace

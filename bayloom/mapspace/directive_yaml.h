// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {

/// A list of directives; refuses what is no directive.
std::vector<Directive> ReadDirectives(const yaml::YamlValue& list);

/// What a map says of one level: `factors`, `permutation`, `split`, `keep`, `bypass`. A split
/// beyond all dimensions is as good as all of them.
Directive ReadDirective(const yaml::YamlValue& item, Directive::Kind kind, std::string target);

/// "file.yaml:12:4: 'key'", of those of these keys, spelt with '-' or '_', that ask for something:
/// neither an empty list nor false or 0.
std::vector<std::string> PlacesOf(const yaml::YamlValue& map,
                                  std::initializer_list<std::string_view> keys);

}  // namespace bayloom::mapspace

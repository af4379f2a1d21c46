// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {

/// A list of directives; refuses what is no directive.
std::vector<Directive> ReadDirectives(const yaml::YamlValue& list);

}  // namespace bayloom::mapspace

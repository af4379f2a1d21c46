#pragma once

#include <vector>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom {

/// A list of directives; refuses what is no directive.
std::vector<Directive> ReadDirectives(const YamlValue& list);

}  // namespace bayloom

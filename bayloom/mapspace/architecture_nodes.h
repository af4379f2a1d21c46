// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/technology.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {

/// Reads `nodes:` of an architecture of Timeloop's version 0.4 into its levels, multipliers and
/// constraints. `document` is the top, which may have `variables:`.
///
/// Everything in the list stands inside of what is before it: `!Component` is a memory or the
/// multipliers, `!Container` a group, `!Parallel` memories beside each other, one for each tensor.
/// Where two containers follow each other, both with a mesh, the first becomes a level that keeps
/// nothing, so that each has constraints of its own on its loops. Attributes may be expressions of
/// variables and of attributes of the same node and of containers around it.
///
/// Throws InputError for what is wrong, and for what would change the result and is not supported.
void ReadNodes(const yaml::YamlValue& document, const yaml::YamlValue& nodes,
               const Technology* technology, Architecture& architecture);

}  // namespace bayloom::mapspace

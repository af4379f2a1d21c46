// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/formats/layer_list.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {

/// An accelerator of ZigZag (Mei et al., IEEE TC 2021; version 3): `memories`, lowest first, and an
/// `operational_array`.
///
/// A memory becomes a level that keeps its operands (I1: Inputs, I2: Weights, O: Outputs) and
/// nothing else, with an instance for each position along the dimensions that it does not serve.
/// Words are 8 bits, a block is `bandwidth_min`, which costs the part of `r_cost` and `w_cost` that
/// it is of `bandwidth_max`. Ports of one kind are one with the sum of their bandwidths; what
/// read_write ports read and write together is limited as well. The first dimension of the array is
/// the mesh's x, the others are its y.
///
/// Refused are memories that do not stand within one another (one serves D1, another D2), whose
/// ports differ in width, or whose costs are computed by CACTI, and arrays that compute in memory.
Architecture ReadZigzagArchitecture(const yaml::YamlValue& document, const std::string& name);

/// See ReadLayers.
std::vector<NamedProblem> ReadZigzagWorkload(const yaml::YamlValue& document);

}  // namespace bayloom::mapspace

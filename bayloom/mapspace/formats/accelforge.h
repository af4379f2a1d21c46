// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/formats/layer_list.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {

/// Whether `arch: nodes:` are AccelForge's (Andrulis et al. 2026; version 1.0) and not those of
/// Timeloop 0.4: they have `tensors`, `actions` or `component_class`.
bool IsAccelforge(const yaml::YamlValue& nodes);

/// An architecture of AccelForge for operations of two inputs and an output, called Inputs, Weights
/// and Outputs, each mapped by itself: no tensor is an intermediate one.
///
/// Words are 8 bits, or what `bits_per_value` of a memory makes of these. A cycle is what a
/// multiplier takes for a multiply-accumulate. Energies are of a bit (`bits_per_action` bits) in
/// joules, or where a node has none, those of `technology` or of Timeloop's public table, by
/// `component_class`. `throughput` is actions a second; reads and writes share it, unless
/// `total_latency` is their maximum. Dimensions of `spatial` are the mesh's x, then y: of more, the
/// further ones are y as well. Which tensors a memory keeps are sets: `keep: input | output`,
/// `~MainMemory`, `All`.
///
/// That spatial loops may only reuse some tensor (`reuse`, `may_reuse`), have to use so much of the
/// array (`min_usage`), and leakage are not counted; their places are in
/// Architecture::without_effect. Refused are nodes other than memories, containers and multipliers,
/// reads and writes that wait for each other at different rates, and expressions of other forms.
Architecture ReadAccelforgeArchitecture(const yaml::YamlValue& nodes, const std::string& name,
                                        const Technology* technology);

/// See ReadLayers.
std::vector<NamedProblem> ReadAccelforgeWorkload(const yaml::YamlValue& document);

}  // namespace bayloom::mapspace

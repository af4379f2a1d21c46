// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/accelerator/network_layers.h"
#include "bayloom/cli/options/map_options.h"

namespace bayloom::cli {

/// `bayloom map --cores` without --fuse: layers divided between cores.
void MapCores(const MapArguments& arguments, std::vector<accelerator::NetworkLayer> layers);

/// Writes the problem of a network's layer, and its mapping if there is one, into a folder, as
/// timeloop-model takes them. `number` counts the layers from 1.
void WriteMappedLayer(const std::string& folder, int number, const std::string& name,
                      const mapspace::Problem& problem,
                      const std::optional<mapspace::Mapping>& mapping,
                      const mapspace::Architecture& architecture);

}  // namespace bayloom::cli

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/formats/layer_list.h"

namespace bayloom::mapspace {

/// An accelerator of MAESTRO (Kwon et al., MICRO 2019), `num_pes: 256` and so on: a buffer for each
/// multiplier (L1), one for all (L2) and DRAM. Sizes are words of 16 bits, of which half hold what
/// is used while the other half is filled, as that tool counts them; the network's bandwidth is
/// that of L2, the off-chip bandwidth that of DRAM, each for words read and for words written.
/// Energies are those of `technology`, or of the public table (architecture.h): the file has none.
///
/// Refused are numbers of hops: latencies of networks are not counted.
Architecture ParseMaestroArchitecture(const std::string& text, const std::string& file,
                                      const Technology* technology = nullptr);

/// See ReadLayers.
std::vector<NamedProblem> ParseMaestroNetwork(const std::string& text, const std::string& file);

}  // namespace bayloom::mapspace

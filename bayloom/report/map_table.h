// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bayloom/accelerator/network_mapping.h"
#include "bayloom/report/kept_result.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// A network's layers with their best mappings: how often there is such a layer, evaluations spent
/// on it, and, of one such layer, energy, cycles and utilization by the model's account; what is
/// proved of it, if anything is.
Table LayerTable(const accelerator::NetworkMapping& mapping);

/// Energy, cycles, their product and utilization of all layers, one after the other.
std::string TotalsLine(const accelerator::NetworkMapping& mapping);

/// Both, as they are printed and kept.
KeptResult ResultOf(const accelerator::NetworkMapping& mapping);

/// {"layers": [{"name", "count", "problem", "dimensions", "evaluations", "value", "mapping",
/// "model", "improvements", "certificate"?}], "totals": {"energy_pj", "cycles", "energy_delay",
/// "macs", "utilization"}, "evaluations", "seconds", "end"}; a layer without a mapping has no
/// "mapping".
nlohmann::json ToJson(const accelerator::NetworkMapping& mapping);

}  // namespace bayloom::report

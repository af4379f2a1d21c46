#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bayloom/report/table.h"
#include "bayloom/tuning/network_mapping.h"

namespace bayloom {

/// A network's layers with their best mappings: how often there is such a layer, evaluations spent
/// on it, and, of one such layer, energy, cycles and utilization by the model's account.
Table LayerTable(const NetworkMapping& mapping);

/// Energy, cycles, their product and utilization of all layers, one after the other.
std::string TotalsLine(const NetworkMapping& mapping);

/// {"layers": [{"name", "count", "problem", "dimensions", "evaluations", "value", "mapping",
/// "model", "improvements"}], "totals": {"energy_pj", "cycles", "energy_delay", "macs",
/// "utilization"}, "evaluations", "seconds", "end"}; a layer without a mapping has no "mapping".
nlohmann::json ToJson(const NetworkMapping& mapping);

/// Follows the search of a network's mappings: a line that changes on a terminal, elsewhere one
/// every few seconds. The mapping must outlive it.
class NetworkMappingProgress {
 public:
  NetworkMappingProgress(std::FILE* out, const NetworkMapping& mapping, int64_t max_evaluations);
  void Turn();
  void End();

 private:
  std::FILE* out_;
  const NetworkMapping& mapping_;
  int64_t max_evaluations_;
  bool is_terminal_;
  double shown_at_ = 0;
};

}  // namespace bayloom

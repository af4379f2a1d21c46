// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/mapspace/transfer.h"
#include "bayloom/record/store.h"

namespace bayloom::tuning {

/// What identifies a search for mappings in a store.
struct MapIdentity {
  mapspace::Problem problem;
  mapspace::Architecture architecture;
  std::vector<mapspace::Directive> constraints = {};  ///< besides the architecture's own
  mapspace::ReuseCounting counting = mapspace::ReuseCounting::kExact;
  std::string objective;
  std::string evaluator;  ///< "model", "timeloop" or a command
  std::string mapper;
  uint64_t seed = 0;

  /// A run of this search; its name is "conv2d R=3 ... on gemmini".
  record::RunRecord ToRecord() const;
};

/// The store's last search of the same problem, architecture, constraints, way of counting reuse,
/// objective and evaluator.
std::optional<record::RunRecord> LastSearchOf(const MapIdentity& identity, record::Store& store);

/// A mapping as a store keeps it. Fails if it does not belong to the problem and architecture.
Result<mapspace::Mapping> ParseStoredMapping(const std::string& candidate,
                                             const mapspace::Problem& problem,
                                             const mapspace::Architecture& architecture);

/// All searches for mappings with this objective in a store, with what fitted; those without any
/// such mapping are left out.
std::vector<mapspace::EarlierMappings> ReadEarlierMappings(record::Store& store,
                                                           const std::string& objective);

}  // namespace bayloom::tuning

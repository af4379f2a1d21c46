#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/mapspace/transfer.h"
#include "bayloom/record/store.h"

namespace bayloom {

/// What identifies a search for mappings in a store.
struct MapIdentity {
  Problem problem;
  Architecture architecture;
  std::string objective;
  std::string evaluator;  ///< "model", "timeloop" or a command
  std::string mapper;
  uint64_t seed = 0;

  /// A run of this search; its name is "conv2d R=3 ... on gemmini".
  RunRecord ToRecord() const;
};

/// The store's last search of the same problem, architecture, objective and evaluator.
std::optional<RunRecord> LastSearchOf(const MapIdentity& identity, Store& store);

/// A mapping as a store keeps it. Fails if it is none of the problem and architecture.
Result<Mapping> ParseStoredMapping(const std::string& candidate, const Problem& problem,
                                   const Architecture& architecture);

/// All searches for mappings with this objective in a store, with what fitted; those without any
/// such mapping are left out.
std::vector<EarlierMappings> ReadEarlierMappings(Store& store, const std::string& objective);

}  // namespace bayloom

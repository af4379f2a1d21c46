// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/exact/exact_search.h"

namespace bayloom::mapspace {

/// What an exact search has proved of a mapspace: that this mapping is its best one, or how far
/// from the best it is at most. What can be checked of it without searching again is in it.
struct Certificate {
  std::string problem, architecture;  ///< see IdentityOf
  MapObjective objective = MapObjective::kEnergy;
  Mapping mapping;
  double value = 0;  ///< of the mapping, by the model
  double bound = 0;  ///< no mapping has less
  bool is_whole = false;
  double mapspace_size = 0;  ///< see Mapspace::Size
  ExactCounts counts;
  std::vector<BoundedPartial> sample;

  /// How much less than the mapping's the least value can be, as a share of it.
  double Gap() const { return bound < value ? 1 - bound / value : 0; }
};

/// What a mapping's value is of: problem, architecture and constraints as texts, hashed.
std::string IdentityOf(const Mapspace& mapspace);

nlohmann::json ToJson(const Certificate& certificate, const Mapspace& mapspace);
/// The certificate that this is of the mapspace. Throws InputError, in one line, if it is none, or
/// one of another problem, architecture or constraints.
Certificate CertificateFromJson(const nlohmann::json& json, const Mapspace& mapspace);

struct CertificateCheck {
  int64_t mappings = 0;     ///< random ones that fit, and neighbours of the best
  int64_t completions = 0;  ///< of partial mappings that were cut off
};

/// Whether the model gives the mapping its value, and whether mappings, random ones and random
/// completions of partial mappings that were cut off, have values above the bounds. Counts come
/// from the model alone: the search's own costs have no part in it. Fails, naming the first claim
/// that is wrong.
Result<CertificateCheck> CheckCertificate(const Certificate& certificate, const Mapspace& mapspace,
                                          const AnalyticalModel& model, uint64_t seed);

}  // namespace bayloom::mapspace

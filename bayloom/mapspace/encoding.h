// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"
#include "bayloom/space/space.h"

namespace bayloom::mapspace {

/// How tile sizes become parameters (Kannan 2023, sec. IV-C).
enum class TileEncoding : uint8_t {
  /// One divisor of the bound per dimension and level, the innermost level's first: as much of it
  /// as the bound leaves and the buffers hold. Tiles that fill the buffers are corners of the
  /// space.
  kDivisor,
  /// One factorization per dimension over all levels: every tiling once, similar ones close.
  kFactorization,
  /// One whole number per dimension and level, rounded to a factor of what the bound leaves and the
  /// buffers hold.
  kRoundedInteger,
  /// One real in (0, 1] per dimension and level: the sides of the level's tile relative to each
  /// other. The tile is the largest of this shape that its buffer holds, rounded down to factors
  /// (equations 4 to 6), so that every configuration fits.
  kAspectRatio,
};

/// How loop orders become parameters.
enum class OrderEncoding : uint8_t {
  /// One permutation per level, near others that differ in few places.
  kPermutation,
  /// One real per loop and level, its importance: loops run in this order, the most important
  /// outermost (NAAS, Lin et al. 2021).
  kRanking,
  /// One category per order: for few dimensions.
  kCategorical,
};

/// "divisor", "factorization", "integer", "aspect"; "permutation", "ranking", "categorical".
std::string_view ToString(TileEncoding encoding);
std::string_view ToString(OrderEncoding encoding);
/// Throw InputError naming the choices.
TileEncoding ParseTileEncoding(std::string_view text);
OrderEncoding ParseOrderEncoding(std::string_view text);

/// A mapspace as a parameter space for an optimizer, without known constraints: where tiles would
/// not fit, decoding makes inner factors smaller and the outermost larger until they do, so that
/// every configuration is a mapping that fits. (Of the tilings of 512^3 on gemmini nine in ten fit
/// as they are.) Loops of bound 1, the innermost level's order and what constraints fix are no
/// parameters.
class MappingEncoding {
 public:
  virtual ~MappingEncoding() = default;

  const std::shared_ptr<const space::Space>& space() const { return space_; }
  /// A configuration of the space as a mapping; nullopt if it does not settle or fit, which happens
  /// only where constraints leave the innermost tiles too large.
  virtual std::optional<Mapping> Decode(const space::Configuration& configuration) const = 0;
  /// A configuration that decodes to this mapping, or to one near it where the encoding does not
  /// have it (aspect ratios know no tiles smaller than what fits). Fails for a mapping that is not
  /// in the mapspace.
  virtual Result<space::Configuration> Encode(const Mapping& mapping) const = 0;
  /// The one of the configurations of a mapping that Encode gives; the configuration itself if it
  /// is no mapping, or one that the encoding has only something near to.
  virtual space::Configuration Canonical(const space::Configuration& configuration) const;

 protected:
  std::shared_ptr<const space::Space> space_;
};

/// Throws InputError if the encoding does not suit: categorical orders of more than 5 loops. The
/// mapspace and the model must outlive the encoding and its space.
std::unique_ptr<MappingEncoding> MakeMappingEncoding(const Mapspace& mapspace,
                                                     const AnalyticalModel& model,
                                                     TileEncoding tiles, OrderEncoding orders);

}  // namespace bayloom::mapspace

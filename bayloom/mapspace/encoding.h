// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bayloom/base/registry.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"
#include "bayloom/space/space.h"

namespace bayloom::mapspace {

class TileCoder;
class OrderCoder;

/// Adds parameters to the space and says what their values mean. The mapspace and the model must
/// outlive what is made.
using TileEncodingMaker = std::function<std::unique_ptr<TileCoder>(
    const Mapspace&, const AnalyticalModel&, space::Space::Builder&)>;
using OrderEncodingMaker =
    std::function<std::unique_ptr<OrderCoder>(const Mapspace&, space::Space::Builder&)>;

/// How tile sizes become parameters, by name.
///
/// "divisor": one divisor of the bound per dimension and level, the innermost level's first: as
/// much of it as the bound leaves and the buffers hold. Tiles that fill the buffers are corners of
/// the space. "integer": one whole number per dimension and level, rounded to a factor of what the
/// bound leaves and the buffers hold (Kannan 2023, sec. IV-C).
base::Registry<TileEncodingMaker>& TileEncodings();

/// How loop orders become parameters, by name.
///
/// "permutation": one permutation per level, near others that differ in few places.
/// "ranking": one real per loop and level, its importance: loops run in this order, the most
/// important outermost (NAAS, Lin et al. 2021).
base::Registry<OrderEncodingMaker>& OrderEncodings();

/// A mapspace as a parameter space for an optimizer, without known constraints: where tiles would
/// not fit, decoding makes inner factors smaller and the outermost larger until they do, so that
/// every configuration is a mapping that fits. (Of the tilings of 512^3 on gemmini nine in ten fit
/// as they are.) Loops of bound 1, the innermost level's order and what constraints fix are no
/// parameters.
class MappingEncoding {
 public:
  virtual ~MappingEncoding() = default;

  const std::shared_ptr<const space::Space>& space() const { return space_; }
  /// A configuration of the space as a mapping; nullopt if it cannot be repaired or does not fit,
  /// which happens only where constraints leave the innermost tiles too large.
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

/// By the names of encodings of tiles and orders. Throws InputError for an unknown name, and if an
/// encoding does not suit the mapspace. The mapspace and the model must outlive the encoding and
/// its space.
std::unique_ptr<MappingEncoding> MakeMappingEncoding(const Mapspace& mapspace,
                                                     const AnalyticalModel& model,
                                                     const std::string& tiles,
                                                     const std::string& orders);

}  // namespace bayloom::mapspace

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "bayloom/mapspace/order_encoding.h"
#include "bayloom/mapspace/tile_encoding.h"

/// Encodings of mappings with which the default ones are compared (Kannan 2023, sec. IV-C, unless
/// another source is named).

namespace bayloom::experimental {

/// "factorization": one factorization per dimension over all levels: every tiling once, similar
/// ones close. (Bayloom's own.)
std::unique_ptr<mapspace::TileCoder> MakeFactorizationCoder(const mapspace::Mapspace& mapspace,
                                                            const mapspace::AnalyticalModel& model,
                                                            space::Space::Builder& builder);

/// "aspect": one real in (0, 1] per dimension and level: the sides of the level's tile relative to
/// each other. The tile is the largest of this shape that its buffer holds, rounded down to factors
/// (equations 4 to 6), so that every configuration fits.
std::unique_ptr<mapspace::TileCoder> MakeAspectRatioCoder(const mapspace::Mapspace& mapspace,
                                                          const mapspace::AnalyticalModel& model,
                                                          space::Space::Builder& builder);

/// "categorical": one category per order. Throws InputError for more than 5 loops.
std::unique_ptr<mapspace::OrderCoder> MakeCategoricalCoder(const mapspace::Mapspace& mapspace,
                                                           space::Space::Builder& builder);

}  // namespace bayloom::experimental

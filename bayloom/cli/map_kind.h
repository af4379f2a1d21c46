// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bayloom/cli/options/map_options.h"

namespace bayloom::cli {

/// What not every kind of run of `bayloom map` takes.
enum class MapOption : uint8_t {
  kEvaluator,  ///< another than the built-in model
  kWorkers,
  kFront,  ///< several objectives
  kLearnFrom,
  kWarmStartModel,
  kTopK,
  kMapping,
  kCheck,
  kCertificate,
  kMappings,  ///< uneven ones
  kWhy,
  kFuse,
  kTileEvaluations,
  kLayerList,  ///< a network that is a list of layers
};

/// A kind of run of `bayloom map`: what it takes, and how it is carried out.
struct MapKind {
  std::string_view name;  ///< in messages
  std::vector<MapOption> takes;
  bool writes_folder = true;  ///< --out; else a file
  void (*run)(const MapArguments& arguments) = nullptr;
};

MapKind MappingEvaluation();
MapKind CertificateChecking();
MapKind OperationSearch();
MapKind NetworkSearch();
MapKind FusedSearch();
MapKind CoresSearch();

/// The kind that the arguments ask for. Throws InputError where they give what it does not take.
MapKind KindOf(const MapArguments& arguments);

}  // namespace bayloom::cli

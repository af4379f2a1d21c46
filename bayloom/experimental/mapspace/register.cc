// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/mapspace/encodings.h"
#include "bayloom/experimental/variants.h"

namespace bayloom::experimental {

void RegisterEncodings() {
  auto& tiles = mapspace::TileEncodings();
  tiles.RegisterExperimental(
      {"factorization", "a factorization per dimension over all levels", MakeFactorizationCoder});
  tiles.RegisterExperimental(
      {"aspect", "the ratios of a tile's sides per level (Kannan 2023)", MakeAspectRatioCoder});
  mapspace::OrderEncodings().RegisterExperimental(
      {"categorical", "a category per order, for up to 5 loops", MakeCategoricalCoder});
}

}  // namespace bayloom::experimental

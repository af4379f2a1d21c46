// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/encoding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"

namespace bayloom::mapspace {
namespace {

/// A small product on an architecture.
struct SmallProduct {
  explicit SmallProduct(const char* architecture)
      : mapspace(MatmulProblem(16, 12, 32), ShippedArchitecture(architecture)),
        model(mapspace.problem(), mapspace.architecture()) {}

  Mapspace mapspace;
  AnalyticalModel model;
};

/// With every encoding of the product's mappings on a temporal architecture and on an array.
void ForEachEncoding(const std::function<void(const SmallProduct& product, TileEncoding tiles,
                                              const MappingEncoding& encoding)>& check) {
  for (const char* name : {"gemmini", "eyeriss-like"}) {
    const SmallProduct product(name);
    for (TileEncoding tiles : {TileEncoding::kDivisor, TileEncoding::kFactorization,
                               TileEncoding::kRoundedInteger, TileEncoding::kAspectRatio}) {
      for (OrderEncoding orders :
           {OrderEncoding::kPermutation, OrderEncoding::kRanking, OrderEncoding::kCategorical}) {
        SCOPED_TRACE(fmt::format("{} {} {}", name, ToString(tiles), ToString(orders)));
        check(product, tiles, *MakeMappingEncoding(product.mapspace, product.model, tiles, orders));
      }
    }
  }
}

TEST(MappingEncoding, EverySampleOfEveryEncodingFits) {
  ForEachEncoding([](const SmallProduct& product, TileEncoding, const MappingEncoding& encoding) {
    const Mapspace& mapspace = product.mapspace;
    base::RandomStream random(1);
    std::set<std::string> distinct;
    for (int i = 0; i < 50; ++i) {
      const auto configuration = encoding.space()->Sample(random);
      ASSERT_TRUE(configuration.has_value());
      const auto mapping = encoding.Decode(*configuration);
      ASSERT_TRUE(mapping.has_value());
      EXPECT_TRUE(product.model.Fits(*mapping));
      EXPECT_TRUE(CheckMapping(*mapping, mapspace.problem(), mapspace.architecture()).ok());
      EXPECT_TRUE(Obeys(*mapping, mapspace.constraints(), mapspace.problem()));
      distinct.insert(PrintCompact(*mapping, mapspace.problem()));
    }
    EXPECT_GT(distinct.size(), 20u);
  });
}

TEST(MappingEncoding, WhatIsDecodedCanBeEncoded) {
  ForEachEncoding(
      [](const SmallProduct& product, TileEncoding tiles, const MappingEncoding& encoding) {
        base::RandomStream random(2);
        for (int i = 0; i < 30; ++i) {
          const Mapping mapping = *encoding.Decode(*encoding.space()->Sample(random));
          const Result<space::Configuration> encoded = encoding.Encode(mapping);
          ASSERT_TRUE(encoded.ok()) << encoded.error().message;
          const std::optional<Mapping> again = encoding.Decode(*encoded);
          ASSERT_TRUE(again.has_value());
          if (tiles != TileEncoding::kAspectRatio) {
            EXPECT_EQ(*again, mapping);
          }
        }
        if (tiles == TileEncoding::kFactorization) {
          const Mapping foreign =
              OutermostMapping(MatmulProblem(7, 12, 32), product.mapspace.architecture());
          EXPECT_FALSE(encoding.Encode(foreign).ok());
        }
      });
}

TEST(MappingEncoding, OneConfigurationStandsForAllOfAMapping) {
  ForEachEncoding(
      [](const SmallProduct& product, TileEncoding tiles, const MappingEncoding& encoding) {
        base::RandomStream random(3);
        std::map<std::string, space::Configuration> standing;
        int changed = 0;
        for (int i = 0; i < 300; ++i) {
          const space::Configuration drawn = *encoding.space()->Sample(random);
          const space::Configuration canonical = encoding.Canonical(drawn);
          const Mapping mapping = *encoding.Decode(drawn);
          changed += canonical != drawn;
          EXPECT_EQ(encoding.Decode(canonical), mapping);
          EXPECT_EQ(encoding.Canonical(canonical), canonical);
          if (tiles == TileEncoding::kAspectRatio) continue;
          const auto [place, is_new] =
              standing.try_emplace(PrintCompact(mapping, product.mapspace.problem()), canonical);
          EXPECT_EQ(place->second, canonical);
        }
        if (tiles != TileEncoding::kAspectRatio) {
          EXPECT_GT(changed, 50);
        }
      });
}

TEST(MappingEncoding, AspectRatiosFillTheBuffers) {
  // Of equal sides the tile is as large as the accumulator's 16384 words allow: 128 x 128.
  const Mapspace mapspace(MatmulProblem(512, 512, 512), ShippedArchitecture("gemmini"));
  const AnalyticalModel model(mapspace.problem(), mapspace.architecture());
  const auto encoding =
      MakeMappingEncoding(mapspace, model, TileEncoding::kAspectRatio, OrderEncoding::kRanking);
  std::map<std::string, space::Value> values;
  for (int i = 0; i < encoding->space()->size(); ++i) {
    values[encoding->space()->parameter(i).name()] = 1.0;
  }
  const auto mapping = encoding->Decode(*encoding->space()->Parse(values));
  ASSERT_TRUE(mapping.has_value());
  // Registers, 256 words for three square tiles of one side: 8 x 8 each.
  EXPECT_EQ(mapping->levels[0].temporal[0], 8);
  EXPECT_EQ(mapping->levels[0].temporal[2], 8);
  const Evaluation evaluation = model.Evaluate(*mapping);
  EXPECT_EQ(evaluation.levels[1].tensors[2].tile_words, 16384);
}

TEST(MappingEncoding, CategoriesAreForFewLoops) {
  const Mapspace mapspace(Conv2dProblem({.r = 3, .s = 3, .p = 8, .q = 8, .c = 16, .m = 8, .n = 2}),
                          ShippedArchitecture("gemmini"));
  const AnalyticalModel model(mapspace.problem(), mapspace.architecture());
  EXPECT_THROW(MakeMappingEncoding(mapspace, model, TileEncoding::kFactorization,
                                   OrderEncoding::kCategorical),
               InputError);
}

}  // namespace
}  // namespace bayloom::mapspace

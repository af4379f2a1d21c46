// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/mapspace/encoding_contract.h"

#include <map>
#include <set>

#include "bayloom/mapspace/mapspace.h"

namespace bayloom::mapspace {

TEST_P(EncodingContract, EverySampleOfEveryEncodingFits) {
  ForEachProduct([&](const SmallProduct& product, const MappingEncoding& encoding) {
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
      EXPECT_TRUE(
          Satisfies(*mapping, mapspace.constraints(), mapspace.problem(), mapspace.architecture()));
      distinct.insert(PrintCompact(*mapping, mapspace.problem()));
    }
    EXPECT_GT(distinct.size(), 20u);
  });
}

TEST_P(EncodingContract, WhatIsDecodedCanBeEncoded) {
  ForEachProduct([&](const SmallProduct&, const MappingEncoding& encoding) {
    base::RandomStream random(2);
    for (int i = 0; i < 30; ++i) {
      const Mapping mapping = *encoding.Decode(*encoding.space()->Sample(random));
      const Result<space::Configuration> encoded = encoding.Encode(mapping);
      ASSERT_TRUE(encoded.ok()) << encoded.error().message;
      const std::optional<Mapping> again = encoding.Decode(*encoded);
      ASSERT_TRUE(again.has_value());
      if (is_exact()) {
        EXPECT_EQ(*again, mapping);
      }
    }
  });
}

TEST_P(EncodingContract, OneConfigurationStandsForAllOfAMapping) {
  ForEachProduct([&](const SmallProduct& product, const MappingEncoding& encoding) {
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
      if (!is_exact()) continue;
      const auto [place, is_new] =
          standing.try_emplace(PrintCompact(mapping, product.mapspace.problem()), canonical);
      EXPECT_EQ(place->second, canonical);
    }
    if (is_exact()) {
      EXPECT_GT(changed, 50);
    }
  });
}

}  // namespace bayloom::mapspace

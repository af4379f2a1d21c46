// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <map>

#include "bayloom/base/result.h"
#include "bayloom/experimental/register.h"
#include "bayloom/mapspace/mapper.h"
#include "tests/mapspace/encoding_contract.h"

namespace bayloom::mapspace {

/// All but those that mapspace has of its own.
std::vector<EncodingCase> ExperimentalEncodings() {
  experimental::Register();
  std::vector<EncodingCase> cases;
  for (const char* orders : {"permutation", "ranking", "categorical"}) {
    for (const std::string& tiles : TileEncodings().ExperimentalNames()) {
      cases.emplace_back(tiles, orders);
    }
  }
  for (const std::string& tiles : TileEncodings().Names()) {
    cases.emplace_back(tiles, "categorical");
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Experimental, EncodingContract, testing::ValuesIn(ExperimentalEncodings()),
                         EncodingCaseName);

}  // namespace bayloom::mapspace

namespace bayloom::experimental {
namespace {

TEST(MappingEncoding, FactorizationsAreOfTheBounds) {
  Register();
  const mapspace::SmallProduct product("gemmini");
  const auto encoding = mapspace::MakeMappingEncoding(product.mapspace, product.model,
                                                      "factorization", "permutation");
  const mapspace::Mapping foreign = mapspace::OutermostMapping(mapspace::MatmulProblem(7, 12, 32),
                                                               product.mapspace.architecture());
  EXPECT_FALSE(encoding->Encode(foreign).ok());
}

TEST(MappingEncoding, AspectRatiosFillTheBuffers) {
  Register();
  // Of equal sides the tile is as large as the accumulator's 16384 words allow: 128 x 128.
  const mapspace::Mapspace mapspace(mapspace::MatmulProblem(512, 512, 512),
                                    mapspace::ShippedArchitecture("gemmini"));
  const mapspace::AnalyticalModel model(mapspace.problem(), mapspace.architecture());
  const auto encoding = mapspace::MakeMappingEncoding(mapspace, model, "aspect", "ranking");
  std::map<std::string, space::Value> values;
  for (int i = 0; i < encoding->space()->size(); ++i) {
    values[encoding->space()->parameter(i).name()] = 1.0;
  }
  const auto mapping = encoding->Decode(*encoding->space()->Parse(values));
  ASSERT_TRUE(mapping.has_value());
  // Registers, 256 words for three square tiles of one side: 8 x 8 each.
  EXPECT_EQ(mapping->levels[0].temporal[0], 8);
  EXPECT_EQ(mapping->levels[0].temporal[2], 8);
  const mapspace::Evaluation evaluation = model.Evaluate(*mapping);
  EXPECT_EQ(evaluation.levels[1].tensors[2].tile_words, 16384);
}

TEST(MappingEncoding, CategoriesAreForFewLoops) {
  Register();
  const mapspace::Mapspace mapspace(
      mapspace::Conv2dProblem({.r = 3, .s = 3, .p = 8, .q = 8, .c = 16, .m = 8, .n = 2}),
      mapspace::ShippedArchitecture("gemmini"));
  const mapspace::AnalyticalModel model(mapspace.problem(), mapspace.architecture());
  EXPECT_THROW(mapspace::MakeMappingEncoding(mapspace, model, "factorization", "categorical"),
               InputError);
}

TEST(Mappers, SearchWithExperimentalOptimizersAndEncodings) {
  Register();
  const mapspace::SmallProduct product("gemmini");
  const auto evaluator =
      mapspace::MakeModelEvaluator(product.model, {mapspace::MapObjective::kEnergy});
  mapspace::MapperOptions options;
  options.run.budget.trials = 50;
  options.tiles = "factorization";
  EXPECT_EQ(mapspace::ExperimentalMapperNames(),
            (std::vector<std::string>{"chain-of-trees", "local-search"}));
  const mapspace::MapperResult result =
      mapspace::RunMapper("chain-of-trees", product.mapspace, product.model, *evaluator, options);
  EXPECT_EQ(result.evaluations, 50);
  EXPECT_TRUE(result.best.has_value());
}

}  // namespace
}  // namespace bayloom::experimental

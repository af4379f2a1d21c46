// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bayloom/mapspace/mapper.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/sensitivity.h"
#include "tests/mapspace/random_mapping.h"
#include "tests/mapspace/similar_mapspaces.h"

namespace bayloom::mapspace {
namespace {

TEST(MapTransfer, EarlierMappingsAreConfigurationsOfTheirOwnMapspaces) {
  const Problem problem = MatmulProblem(64, 32, 128);
  const Mapspace target(problem, ShippedArchitecture("gemmini"));
  const std::vector<EarlierMappings> searches = {
      RandomMappings(problem, WithScratchpad(1 << 14), 20),
      RandomMappings(MatmulProblem(16, 32, 128), WithScratchpad(1 << 14), 10)};
  const optimizer::TransferOptions options =
      LearnFrom(searches, "contextual", MapObjective::kEnergy, target, "divisor", "permutation");
  ASSERT_EQ(options.tasks.size(), 2u);
  EXPECT_EQ(options.tasks[0].configurations.size(), 20u);
  EXPECT_EQ(options.tasks[0].values, searches[0].values);
  for (const space::Configuration& configuration : options.tasks[1].configurations) {
    EXPECT_TRUE(options.tasks[1].space->Contains(configuration));
  }
  // I, J, K as logarithms, then words and instances of four levels.
  EXPECT_EQ(options.tasks[1].description[0], 4);
  EXPECT_EQ(options.tasks[1].description[3 + 4], 14);
  EXPECT_EQ(options.description[3 + 4], 18);
}

TEST(MapTransfer, EveryMethodBeginsWhereRandomMappingsEnd) {
  for (const std::string& method : optimizer::TransferMethods().Names()) {
    ExpectToBeginWhereRandomMappingsEnd(method);
  }
}

TEST(MapTransfer, ARehearsalIsWhatTheModelSaid) {
  const Mapspace mapspace(MatmulProblem(16, 16, 16), ShippedArchitecture("gemmini"));
  const AnalyticalModel model(mapspace.problem(), mapspace.architecture());
  const EarlierMappings heard = WarmStartFromModel(mapspace, model, MapObjective::kDelay, 70, 1);
  ASSERT_EQ(heard.mappings.size(), 70u);
  for (size_t i = 0; i < heard.mappings.size(); ++i) {
    EXPECT_EQ(heard.values[i], static_cast<double>(model.Evaluate(heard.mappings[i]).cycles));
  }
}

TEST(MappingJson, ComesBackFromItsLevels) {
  base::RandomStream random(5);
  const Problem problem = Conv2dProblem({.r = 3, .s = 3, .p = 6, .q = 6, .c = 4, .m = 8});
  const Architecture architecture = SmallArchitecture();
  for (int i = 0; i < 30; ++i) {
    Mapping mapping = RandomMapping(problem, architecture, random);
    const Result<Mapping> again =
        MappingFromJson(ToJson(mapping, problem, architecture)["levels"], problem, architecture);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(PrintCompact(*again, problem), PrintCompact(mapping, problem));
  }
  for (const char* text : {"3", "[]", "[{}]", R"([{"temporal": {"Z": 2}}])"}) {
    EXPECT_FALSE(MappingFromJson(nlohmann::json::parse(text), problem, architecture).ok()) << text;
  }
}

TEST(MapSensitivity, FewParametersMatterAndCanBeSearchedAlone) {
  const Mapspace mapspace(MatmulProblem(64, 128, 512), ShippedArchitecture("gemmini"));
  const AnalyticalModel model(mapspace.problem(), mapspace.architecture());
  const auto evaluate = [&](const Mapping& mapping) {
    return EvaluateByModel(model, {{MapObjective::kEnergy}}, mapping);
  };
  auto encoding = MakeMappingEncoding(mapspace, model, "integer", "ranking");
  const EncodingSensitivity sensitivity = RankEncoding(*encoding, evaluate, 150, 1);
  ASSERT_EQ(static_cast<int>(sensitivity.ranking.size()), encoding->space()->size());
  EXPECT_GT(sensitivity.ranking[0].index.total.value,
            5 * sensitivity.ranking.back().index.total.value);

  const auto top = KeepTop(std::move(encoding), sensitivity, 4);
  EXPECT_EQ(top->space()->size(), 4);
  base::RandomStream random(1);
  for (int i = 0; i < 20; ++i) {
    const std::optional<Mapping> mapping = top->Decode(*top->space()->Sample(random));
    ASSERT_TRUE(mapping.has_value());
    EXPECT_EQ(top->Decode(*top->Encode(*mapping)), mapping);
  }
}

}  // namespace
}  // namespace bayloom::mapspace

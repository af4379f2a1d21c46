// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/design_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "tests/accelerator/small_design_space.h"

namespace bayloom::accelerator {
namespace {

using ::testing::HasSubstr;

mapspace::Architecture At(const DesignSpace& design, std::map<std::string, space::Value> values) {
  return design.ArchitectureOf(*design.space().Parse(values), mapspace::ShippedTechnology("45nm"));
}

TEST(DesignSpace, PutsValuesInPlaceOfExpressions) {
  const DesignSpace design = DesignSpace::Parse(kSmallDesignSpace, "small.yaml");
  EXPECT_EQ(design.technology(), "7nm");
  EXPECT_EQ(design.space().CountFeasible(), 4 * 4 * 2 - 2);
  const mapspace::Architecture plain =
      At(design, {{"lanes", int64_t{4}}, {"words", int64_t{1024}}, {"middle", int64_t{0}}});
  ASSERT_EQ(plain.LevelCount(), 3);
  EXPECT_EQ(plain.arithmetic.instances, 4);
  EXPECT_EQ(plain.levels[1].name, "Buffer");
  EXPECT_EQ(plain.levels[1].words, 1024);
  EXPECT_EQ(plain.levels[1].read_bandwidth, 8);
  const mapspace::Architecture more =
      At(design, {{"lanes", int64_t{8}}, {"words", int64_t{256}}, {"middle", int64_t{1}}});
  ASSERT_EQ(more.LevelCount(), 4);
  EXPECT_EQ(more.levels[1].name, "Middle");
  EXPECT_EQ(more.levels[1].words, 64);
}

TEST(DesignSpace, ScenarioHoldsTheWholeFile) {
  const DesignSpace design = DesignSpace::Parse(kSmallDesignSpace, "small.yaml");
  EXPECT_EQ(design.scenario().name, "small");
  EXPECT_THAT(design.scenario().text, HasSubstr("# architecture:"));
  // Read again as what the store keeps.
  EXPECT_EQ(search::ParseScenario(design.scenario().text, "stored").space->CountFeasible(),
            design.space().CountFeasible());
}

TEST(DesignSpace, MistakesAreNamedWithTheirPlace) {
  const auto refusal = [](const std::string& from, const std::string& to) -> std::string {
    std::string text = kSmallDesignSpace;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
      DesignSpace::Parse(text, "small.yaml");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("$(words)", "$(word)"), HasSubstr("small.yaml:14: "));
  EXPECT_THAT(refusal("$(words)", "$(words"), HasSubstr("without its ')'"));
  EXPECT_THAT(refusal("lanes <= 8", "lanes <="), HasSubstr("small.yaml:8:"));
  EXPECT_THAT(refusal("architecture:", "architectur:"), HasSubstr("architectur"));
  EXPECT_THAT(refusal("values: [2, 4, 8, 16]", "values: []"), HasSubstr("small.yaml:4:"));
  // The default is no architecture.
  EXPECT_THAT(refusal("entries: 8, instances: $(lanes)", "entries: 8, instances: 3"),
              HasSubstr("do not divide"));
}

TEST(DesignSpace, DefaultsOfTheExamplesAreTheShippedArchitectures) {
  const std::string examples = BAYLOOM_EXAMPLE_DESIGNS;
  const auto print = [](mapspace::Architecture architecture) {
    architecture.name = "";
    architecture.arithmetic.name = "";
    return mapspace::PrintArchitectureYaml(architecture);
  };
  const mapspace::Technology node = mapspace::ShippedTechnology("45nm");
  for (const auto& [file, name] :
       {std::pair("eyeriss.yaml", "eyeriss-like"), std::pair("gemmini.yaml", "gemmini16x16"),
        std::pair("simba.yaml", "simba-like")}) {
    const DesignSpace design = DesignSpace::Load(examples + "/" + file);
    ASSERT_TRUE(design.scenario().default_configuration) << file;
    EXPECT_EQ(print(design.ArchitectureOf(*design.scenario().default_configuration, node)),
              print(mapspace::ShippedArchitecture(name, &node)))
        << file;
  }
}

}  // namespace
}  // namespace bayloom::accelerator

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bayloom/space/space.h"

namespace bayloom::space {
namespace {

/// The space of a T1 file of the auto-tuning community.
std::shared_ptr<const Space> ReadT1(const std::filesystem::path& path) {
  const nlohmann::json t1 = nlohmann::json::parse(std::ifstream(path)).at("ConfigurationSpace");
  Space::Builder builder;
  for (const nlohmann::json& p : t1.at("TuningParameters")) {
    const auto values = nlohmann::json::parse(p.at("Values").get<std::string>());
    builder.Add(MakeOrdinal(p.at("Name"), values.get<std::vector<double>>()));
  }
  for (const nlohmann::json& condition : t1.at("Conditions")) {
    const Status added = builder.AddConstraint(condition.at("Expression").get<std::string>());
    EXPECT_TRUE(added.ok()) << added.error().message;
  }
  return *builder.Build();
}

struct KnownCount {
  const char* name;
  const char* file;
  double feasible;

  friend void PrintTo(const KnownCount& shown, std::ostream* out) { *out << shown.name; }
};

class RecordedSpace : public ::testing::TestWithParam<KnownCount> {};

TEST_P(RecordedSpace, HasAsManyConfigurationsAsWereMeasured) {
  const auto space = ReadT1(GetParam().file);
  EXPECT_EQ(space->CountFeasible(), GetParam().feasible);
  double visited = 0;
  space->ForEach([&](const Configuration& c) {
    EXPECT_TRUE(space->Contains(c));
    ++visited;
    return true;
  });
  EXPECT_EQ(visited, GetParam().feasible);
}

INSTANTIATE_TEST_SUITE_P(
    All, RecordedSpace,
    ::testing::Values(KnownCount{"convolution", BAYLOOM_TEST_CONVOLUTION, 4362},
                      KnownCount{"dedispersion", BAYLOOM_TEST_DEDISPERSION, 11130}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace bayloom::space

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "bayloom/base/file.h"
#include "tests/accelerator/small_design_space.h"
#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

TEST(DesignCommand, FindsADesignThatMapReads) {
  const TemporaryFolder folder;
  const std::string space = folder / "space.yaml", best = folder / "best.yaml";
  base::WriteFile(space, accelerator::kSmallDesignSpace);
  const std::vector<std::string> line = {
      "design",        space,          "--op",     "matmul:32,32,32",
      "--trials",      "12",           "--db",     folder / "d.db",
      "--evaluations", "50",           "--budget", "area=1mm2,cycles=1e9",
      "--compare",     "gemmini16x16", "--out",    best,
      "--json"};
  const Answer answer = RunBayloom(line);
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  const nlohmann::json json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json.at("trials"), 12);
  EXPECT_EQ(json.at("technology"), "7nm");
  EXPECT_EQ(json.at("designs").size(), 5u);
  EXPECT_EQ(json.at("designs")[0], json.at("best"));
  EXPECT_FALSE(json.at("front").empty());
  EXPECT_EQ(json.at("sensitivity").size(), 3u);
  EXPECT_GT(json.at("compared")[0].at("area_mm2"), json.at("best").at("area_mm2"));

  const Answer mapped = RunBayloom({"map", "--op", "matmul:32,32,32", "--arch", best, "--objective",
                                    "edp", "--evaluations", "3000", "--json"});
  ASSERT_EQ(mapped.exit_code, 0) << mapped.error;
  EXPECT_LE(nlohmann::json::parse(mapped.out).at("value"), json.at("best").at("value"));

  // In the database it is a search as any other.
  const Answer shown = RunBayloom({"show", folder / "d.db"});
  EXPECT_EQ(shown.exit_code, 0) << shown.error;
  EXPECT_THAT(shown.out, HasSubstr("small for operations"));
}

TEST(DesignCommand, PrintsTables) {
  const TemporaryFolder folder;
  const std::string space = folder / "space.yaml";
  base::WriteFile(space, accelerator::kSmallDesignSpace);
  const Answer answer = RunBayloom({"design", space, "--op", "matmul:32,32,32", "--trials", "12",
                                    "--evaluations", "30", "--db", folder / "d.db"});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("the best designs, edp at 7nm"));
  EXPECT_THAT(answer.out, HasSubstr("lanes"));
  EXPECT_THAT(answer.out, HasSubstr("no other beats"));
  EXPECT_THAT(answer.out, HasSubstr("what the parameters matter"));
}

TEST(DesignCommand, RefusesBeforeItSearches) {
  const TemporaryFolder folder;
  const std::string space = folder / "space.yaml";
  base::WriteFile(space, accelerator::kSmallDesignSpace);
  const auto refusal = [&](std::vector<std::string> more) {
    std::vector<std::string> line = {"design", space, "--db", folder / "d.db"};
    line.insert(line.end(), more.begin(), more.end());
    const Answer answer = RunBayloom(line);
    EXPECT_EQ(answer.exit_code, 2);
    EXPECT_EQ(answer.out, "");
    return answer.error;
  };
  EXPECT_THAT(refusal({}), HasSubstr("--networks"));
  EXPECT_THAT(refusal({"--op", "matmul:8,8,8", "--budget", "area=2"}), HasSubstr("area=2mm2"));
  EXPECT_THAT(refusal({"--op", "matmul:8,8,8", "--technology", "3nm"}), HasSubstr("45nm"));
  EXPECT_THAT(refusal({"--op", "matmul:8,8,8", "--compare", "nothing"}), HasSubstr("gemmini"));
  EXPECT_THAT(refusal({"--op", "matmul:8,8,8", "--out", "/no/such/folder/a.yaml"}),
              HasSubstr("cannot write"));
}

TEST(DesignCommand, SaysWhyNothingIsWithinTheLimits) {
  const TemporaryFolder folder;
  const std::string space = folder / "space.yaml";
  base::WriteFile(space, accelerator::kSmallDesignSpace);
  const Answer answer = RunBayloom({"design", space, "--op", "matmul:8,8,8", "--trials", "3",
                                    "--budget", "area=1um2", "--db", folder / "d.db"});
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.error, HasSubstr("no design is within the limits"));
  EXPECT_THAT(answer.error, HasSubstr("exceeds 1e-06 mm2"));
}

}  // namespace
}  // namespace bayloom::cli

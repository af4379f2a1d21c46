#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/run_bayloom.h"

namespace bayloom {
namespace {

using testing::HasSubstr;

TEST(MapCommand, FindsAMappingAndEvaluatesWhatItWrote) {
  const std::string file = testing::TempDir() + "bayloom_map_test.yaml";
  const Answer found = RunBayloom({"map", "--op", "matmul:16,16,16", "--arch", "gemmini",
                                   "--evaluations", "300", "--out", file, "--json"});
  ASSERT_EQ(found.exit_code, 0) << found.error;
  const nlohmann::json best = nlohmann::json::parse(found.out);
  EXPECT_EQ(best.at("evaluations"), 300);
  EXPECT_EQ(best.at("model").at("pj_per_mac"), best.at("value"));
  const Answer again = RunBayloom(
      {"map", "--op", "matmul:16,16,16", "--arch", "gemmini", "--mapping", file, "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_EQ(nlohmann::json::parse(again.out).at("value"), best.at("value"));
  std::filesystem::remove(file);
}

TEST(MapCommand, PrintsALoopNest) {
  const Answer text =
      RunBayloom({"map", "--op", "depthwise:8x8x4,3x3,pad=1", "--arch", "eyeriss-like", "--mapper",
                  "random-pruned", "--evaluations", "50", "--objective", "edp"});
  ASSERT_EQ(text.exit_code, 0) << text.error;
  EXPECT_THAT(text.out, HasSubstr("DRAM [ Weights:36 Inputs:400 Outputs:256 ]"));
  EXPECT_THAT(text.out, HasSubstr("pJ per multiply-accumulate"));
}

}  // namespace
}  // namespace bayloom

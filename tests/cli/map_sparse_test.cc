// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

/// Skips sums whose weight is zero; weights are kept without their zeros.
std::string SkippingGemmini(const TemporaryFolder& folder) {
  std::string file = folder / "skip.yaml";
  std::ofstream(file) << R"(sparse_optimizations:
  targets:
  - name: DRAM
    representation-format: {data-spaces: [{name: Weights, rank-application-order: inner-to-outer,
      ranks: [{format: UOP}, {format: UOP}, {format: UOP}, {format: UOP}, {format: CP}]}]}
  - name: Registers
    representation-format: {data-spaces: [{name: Weights, rank-application-order: inner-to-outer,
      ranks: [{format: UOP}, {format: CP}]}]}
    action-optimization: [{type: skipping, target: Inputs, condition-on: [Weights]}]
)";
  return file;
}

TEST(MapSparse, DensityDecidesWhatAMappingCosts) {
  const TemporaryFolder folder;
  const std::string skip = SkippingGemmini(folder);
  const auto map = [&](std::vector<std::string> more) {
    std::vector<std::string> line = {
        "map",      "--op", "matmul:16,16,16", "--arch",        "gemmini",
        "--sparse", skip,   "--json",          "--evaluations", "400"};
    line.insert(line.end(), more.begin(), more.end());
    const Answer answer = RunBayloom(line);
    EXPECT_EQ(answer.exit_code, 0) << answer.error;
    return nlohmann::json::parse(answer.out);
  };
  const std::string file = folder / "mapping.yaml";
  const nlohmann::json dense = map({"--out", file});
  EXPECT_EQ(dense["sparse"]["computes"]["dense"], 4096);
  EXPECT_EQ(dense["sparse"]["computes"]["actual"], 4096);
  const nlohmann::json half = map({"--density", "weights=2:4", "--mapping", file});
  EXPECT_EQ(half["sparse"]["computes"]["actual"], 2048);
  EXPECT_THAT(half["problem"].get<std::string>(), HasSubstr("Weights 2:4"));
  EXPECT_LT(half["value"], dense["value"]);
  const nlohmann::json narrow = map({"--mapping", file, "--word-bits", "WEIGHTS=4"});
  EXPECT_LT(narrow["value"], dense["value"]);
}

TEST(MapSparse, RefusesWhatWouldChangeNothing) {
  const TemporaryFolder folder;
  const std::string skip = SkippingGemmini(folder);
  const auto refusal = [&](std::vector<std::string> more) {
    std::vector<std::string> line = {"map", "--op", "matmul:16,16,16", "--arch", "gemmini"};
    line.insert(line.end(), more.begin(), more.end());
    const Answer answer = RunBayloom(line);
    EXPECT_EQ(answer.exit_code, 2);
    return answer.error;
  };
  EXPECT_THAT(refusal({"--density", "weights=0.5"}), HasSubstr("does nothing about zeros"));
  EXPECT_THAT(refusal({"--sparse", skip, "--density", "wieghts=0.5"}),
              HasSubstr("there are Weights, Inputs, Outputs"));
  EXPECT_THAT(refusal({"--sparse", skip, "--density", "weights=2"}), HasSubstr("density of 2"));
  EXPECT_THAT(refusal({"--sparse", skip, "--occupancy", "most"}), HasSubstr("--occupancy"));
  EXPECT_THAT(refusal({"--word-bits", "weights=0"}), HasSubstr("--word-bits"));
  EXPECT_THAT(refusal({"--sparse", folder / "none.yaml"}), HasSubstr("none.yaml"));
}

}  // namespace
}  // namespace bayloom::cli

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "examples/models/layers.h"
#include "tests/cli/run_bayloom.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

using testing::HasSubstr;

/// A small classifier of two products and a database for it.
class PrecisionCommands : public testing::Test {
 protected:
  PrecisionCommands() : model_(folder_ / "classifier.onnx"), database_(folder_ / "records.db") {
    models::GraphBuilder g("classifier", 13, /*seed=*/1);
    models::Value x = g.Input("image", {1, 4, 12, 12});
    x = g.Node("Relu", {models::ConvBn(g, "conv", x, {4, 16, 3, 1, 1}, 1)});
    models::Classify(g, "fc", x, 16);
    g.Save(model_);
  }

  Answer Tune(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"tune",       model_,   "--db",   database_,
                                          "--threads",  "1",      "--seed", "1",
                                          "--strategy", "random", "--json", "--no-store"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunBayloom(arguments);
  }
  Answer With(const std::string& command, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {command, model_,   "--threads",
                                          "1",     "--json", "--no-store"};
    if (std::filesystem::exists(database_)) arguments.insert(arguments.end(), {"--db", database_});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunBayloom(arguments);
  }

  TemporaryFolder folder_;
  std::string model_, database_;
};

TEST_F(PrecisionCommands, TunedNetworksKeepTheirPrecision) {
  const Answer tuned = Tune({"--trials", "4", "--precision", "bf16"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.error;
  const nlohmann::json precision = nlohmann::json::parse(tuned.out)["precision"];
  EXPECT_EQ(precision["type"], "bf16");
  EXPECT_EQ(precision["tolerance"], 0.02);
  ASSERT_EQ(precision["networks"].size(), 1u);
  EXPECT_EQ(precision["networks"][0]["products"], 2);
  EXPECT_TRUE(precision["networks"][0]["float32"].empty());
  EXPECT_GT(precision["networks"][0]["error"], 0);
  EXPECT_LE(precision["networks"][0]["error"], 0.02);
  EXPECT_THAT(tuned.error, HasSubstr("bf16: largest error"));

  // Another precision is refused, none is the session's own.
  const Answer other = Tune({"--trials", "6", "--precision", "f16", "--resume"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.error, HasSubstr("begun with the precision bf16 within 0.02, not f16"));
  const Answer wide = Tune({"--trials", "6", "--precision", "f32", "--resume"});
  EXPECT_EQ(wide.exit_code, 2);
  EXPECT_THAT(wide.error, HasSubstr("bf16 within 0.02, not f32"));
  const Answer same = Tune({"--trials", "6", "--resume"});
  ASSERT_EQ(same.exit_code, 0) << same.error;
  EXPECT_EQ(nlohmann::json::parse(same.out)["precision"], precision);
  EXPECT_THAT(same.error, testing::Not(HasSubstr("comparing")));

  // The tuned programs are those of this precision.
  const Answer bench = With("bench", {"--precision", "bf16", "--time", "1ms"});
  ASSERT_EQ(bench.exit_code, 0) << bench.error;
  EXPECT_EQ(nlohmann::json::parse(bench.out)["precision"], precision);
  EXPECT_THAT(bench.error, testing::Not(HasSubstr("comparing")));
  EXPECT_THAT(bench.error, testing::Not(HasSubstr(": 0 of")));
  const Answer run = With("run", {"--precision", "bf16"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(nlohmann::json::parse(run.out)["precision"], precision);
  EXPECT_EQ(nlohmann::json::parse(run.out)["outputs"].size(), 1u);
}

TEST_F(PrecisionCommands, ToleranceDecidesWhatStaysInFloat32) {
  const Answer strict =
      With("run", {"--precision", "f16", "--precision-tolerance", "1e-9", "--effort", "none"});
  ASSERT_EQ(strict.exit_code, 0) << strict.error;
  const nlohmann::json network = nlohmann::json::parse(strict.out)["precision"]["networks"][0];
  EXPECT_EQ(network["float32"].size(), 2u);
  EXPECT_EQ(network["error"], 0);
  EXPECT_GT(network["error_of_all"], 1e-9);
  const std::string worst = network["float32"][0]["name"];
  EXPECT_THAT(strict.error, HasSubstr(worst));
  const Answer plain = With("run", {"--effort", "none"});
  EXPECT_EQ(nlohmann::json::parse(plain.out), nlohmann::json::parse(strict.out)["outputs"]);
}

TEST_F(PrecisionCommands, PackagesAndChecksSayIt) {
  const Answer package =
      With("compile", {"--precision", "bf16", "--effort", "none", "--out", folder_ / "lib"});
  ASSERT_EQ(package.exit_code, 0) << package.error;
  EXPECT_EQ(nlohmann::json::parse(package.out)["precision"]["type"], "bf16");
  const Answer check = RunBayloom({"check", model_, "--precision", "bf16", "--json"});
  ASSERT_EQ(check.exit_code, 0) << check.error;
  EXPECT_EQ(nlohmann::json::parse(check.out)["precision"]["networks"][0]["products"], 2);
  EXPECT_FALSE(
      nlohmann::json::parse(RunBayloom({"check", model_, "--json"}).out).contains("precision"));
  EXPECT_EQ(RunBayloom({"run", model_, "--precision", "bf8"}).exit_code, 2);
}

/// On processors it only rounds: less than bfloat16.
TEST_F(PrecisionCommands, Tf32IsAPrecisionOfAllTargets) {
  double errors[2] = {};
  for (const int i : {0, 1}) {
    const Answer check =
        RunBayloom({"check", model_, "--precision", i == 0 ? "tf32" : "bf16", "--json"});
    ASSERT_EQ(check.exit_code, 0) << check.error;
    const nlohmann::json precision = nlohmann::json::parse(check.out)["precision"];
    errors[i] = precision["networks"][0]["error"].get<double>();
    EXPECT_EQ(precision["tolerance"], i == 0 ? 0.01 : 0.02);
  }
  EXPECT_GT(errors[0], 0);
  EXPECT_LT(errors[0], errors[1]);
}

}  // namespace
}  // namespace bayloom::cli

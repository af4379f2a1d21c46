// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "bayloom/base/random.h"
#include "tests/temporary_folder.h"

namespace bayloom::cost {
namespace {

using testing::HasSubstr;

std::string TrainedFile(const std::string& name) {
  base::RandomStream random(1);
  std::vector<Sample> samples;
  for (int i = 0; i < 40; ++i) {
    Sample& sample = samples.emplace_back();
    sample.features.rows = 1;
    sample.features.values.assign(feature::kFeatureColumns, 0);
    sample.features.values[3] = static_cast<float>(random.Uniform());
    sample.seconds = 1 + sample.features.values[3];
  }
  const std::unique_ptr<ThroughputModel> model = CreateThroughputModel(name, 1);
  model->Fit(samples);
  return PackModel(*model);
}

std::string RefusalOf(std::string_view content) {
  const auto model = UnpackModel(content);
  return model ? "" : model.error().message;
}

class ModelFiles : public testing::TestWithParam<std::string> {};

TEST_P(ModelFiles, DamagedOnesAreRefusedBeforeTheyAreRead) {
  const std::string file = TrainedFile(GetParam());
  ASSERT_EQ(RefusalOf(file), "");
  for (size_t cut = 0; cut < 200; ++cut) {
    EXPECT_NE(RefusalOf(file.substr(0, file.size() * cut / 200)), "") << cut;
  }
  base::RandomStream random(2);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = file;
    const auto at = static_cast<size_t>(random.UniformInt(static_cast<int64_t>(file.size())));
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.UniformInt(8)));
    const std::string refusal = RefusalOf(damaged);
    EXPECT_NE(refusal, "") << at;
    EXPECT_EQ(refusal.find('\n'), std::string::npos) << refusal;
  }
  EXPECT_THAT(RefusalOf(file + "x"), HasSubstr("damaged: it has"));
}

INSTANTIATE_TEST_SUITE_P(All, ModelFiles, testing::ValuesIn(ThroughputModelNames()));

TEST(ModelFile, ThoseOfEarlierVersionsAreToBeTrainedAgain) {
  EXPECT_EQ(RefusalOf("bayloom-model 1 xgboost\n{}"),
            "the model was written by another version of this program; train it again");
  EXPECT_EQ(RefusalOf("no model"), "it holds no trained cost model");
}

TEST(ModelFile, DevicesAndPipesAreRefused) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {std::string("/dev/zero"), pipe, folder.path()}) {
    EXPECT_THAT(
        [&] { ReadModelFile(path); },
        testing::ThrowsMessage<InputError>("cannot use '" + path + "': it is not a regular file"));
  }
}

}  // namespace
}  // namespace bayloom::cost

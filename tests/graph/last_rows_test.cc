// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Outputs of which only the last row is computed.
#include <gmock/gmock.h>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/import.h"
#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::HostTensor;

class LastRows : public ::testing::Test {
 protected:
  static constexpr int64_t kRows = 5, kWidth = 8, kWords = 6;

  LastRows() {
    const std::string x = model_.Input(DType::kFloat32, {1, kRows, kWidth});
    const std::string w = model_.Constant(RandomTensor({kWidth, kWords}, 1));
    const std::string scale = model_.Constant(RandomTensor({1}, 2));
    logits_ = model_.Node("Tanh", {model_.Node("Mul", {model_.Node("MatMul", {x, w}), scale})});
    sums_ = model_.Node("Softmax", {x});
    model_.Output(logits_);
    model_.Output(sums_);
    model_.Save(path_);
  }

  Graph Import(std::vector<std::string> last_rows) const {
    ImportOptions options;
    options.last_rows = std::move(last_rows);
    return ImportOnnx(path_, options);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "model.onnx";
  ModelWriter model_;
  std::string logits_, sums_;
};

TEST_F(LastRows, AreThoseOfTheWholeOutput) {
  const HostTensor x = RandomTensor({1, kRows, kWidth}, 3);
  const std::vector<HostTensor> whole = EvaluateGraph(Import({}), {x});
  const std::vector<HostTensor> last = EvaluateGraph(Import({logits_}), {x});
  ASSERT_EQ(last[0].shape, (std::vector<int64_t>{1, 1, kWords}));
  for (int64_t j = 0; j < kWords; ++j) {
    EXPECT_EQ(last[0].Get(j), whole[0].Get((kRows - 1) * kWords + j));
  }
  EXPECT_EQ(last[1].shape, whole[1].shape);
}

TEST_F(LastRows, NeedAProduct) {
  EXPECT_THAT([&] { Import({sums_}); }, ::testing::ThrowsMessage<InputError>(::testing::HasSubstr(
                                            "does not come from a matrix product")));
  EXPECT_THAT([&] { Import({"words"}); },
              ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("'words' is no output")));
}

}  // namespace
}  // namespace bayloom::graph

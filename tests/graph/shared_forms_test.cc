// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/tasks/shared_forms.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/codegen/host.h"
#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/executor.h"
#include "bayloom/graph/package.h"
#include "tests/graph/model_writer.h"
#include "tests/graph/pass_checks.h"
#include "tests/graph/two_layers.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

constexpr int64_t kWords = 2048, kWidth = 200, kTokens = 3;

/// Rows of a table, and their products with all of its rows, as models tie an embedding to the last
/// layer. The product reads the table or its transposition.
Graph Tied(bool transposed) {
  ModelWriter writer;
  const std::string ids = writer.Input(tensor::DType::kInt64, {kTokens});
  const std::string table = writer.Constant(RandomTensor({kWords, kWidth}, 1));
  const std::string rows = writer.Node("Gather", {table, ids});
  const std::string active = writer.Node("Relu", {rows});
  writer.Output(transposed ? writer.Node("MatMul", {active, writer.Node("Transpose", {table})})
                           : writer.Node("Gemm", {active, table}, {{"transB", int64_t{1}}}));
  return writer.Import();
}

/// The network, whose product reads vectors of words.
struct Packed {
  explicit Packed(bool transposed) : graph(Tied(transposed)), compiled(Compile(graph, target)) {
    for (tensor::Program& program : compiled->untuned) {
      for (tensor::Buffer& buffer : program.buffers) {
        const bool is_table = buffer.role == tensor::BufferRole::kConstant;
        const bool is_product = std::ranges::any_of(program.blocks, [](const auto& block) {
          return block.reduction == tensor::Reduction::kSum;
        });
        if (!is_table || !is_product) continue;
        const int words = buffer.shape[0] == kWords ? 0 : 1;
        buffer.layout = {{words, 16, kWords / 16}, {1 - words, 1, kWidth}, {words, 1, 16}};
      }
    }
  }

  target::Target target = codegen::HostTarget(1);
  Graph graph;
  std::unique_ptr<Compiled> compiled;
};

class SharedForms : public ::testing::TestWithParam<bool> {};

TEST_P(SharedForms, TiedWeightsAreThereOnce) {
  const Packed packed(GetParam());
  const TemporaryFolder folder;
  const PackageVariant variant = {packed.target, packed.compiled->programs};
  const Package package =
      WritePackage(packed.compiled->network, {&variant, 1}, folder / "lib", "net");
  constexpr int64_t kTable = 4 * kWords * kWidth;
  EXPECT_GE(package.constant_bytes, kTable);
  EXPECT_LT(package.constant_bytes, kTable + kTable / 10);
}

TEST_P(SharedForms, RowsAreReadInTheProductsOrder) {
  const Packed packed(GetParam());
  const SharingPrograms shared = ShareForms(packed.compiled->network, packed.compiled->programs);
  EXPECT_EQ(shared.replaced.size(), 1);
  const std::vector<tensor::HostTensor> inputs = RandomInputs(packed.graph);
  const tensor::HostTensor expected = EvaluateGraph(packed.graph, inputs)[0];
  tensor::HostTensor actual = tensor::HostTensor::Zeros(expected.dtype, expected.shape);
  Executor(packed.compiled->network, shared.programs, packed.target)
      .Run({inputs[0].data.data()}, {actual.data.data()});
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    ASSERT_NEAR(actual.Get(i), expected.Get(i), 1e-3) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Transposed, SharedForms, ::testing::Bool());

}  // namespace
}  // namespace bayloom::graph

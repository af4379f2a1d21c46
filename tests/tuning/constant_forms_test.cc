// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/constant_forms.h"

#include <gtest/gtest.h>

#include "bayloom/feature/code_estimate.h"
#include "bayloom/graph/builder.h"
#include "bayloom/tuning/tuned_network.h"
#include "tests/graph/separable_blocks.h"
#include "tests/tuning/two_cores.h"

namespace bayloom::tuning {
namespace {

/// Rows times weights that are the same in all networks of one seed.
graph::TaskGraph Product(int64_t rows, int seed = 1) {
  graph::GraphBuilder b("product");
  const tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {rows, 256});
  const tensor::Tensor w = b.Constant("w", graph::SomeWeights({256, 512}, seed));
  const tensor::Tensor y = b.Reduce(
      "y", {rows, 512}, {{"k", 256}}, tensor::Reduction::kSum,
      [&](const auto& s, const auto& r) { return x(s[0], r[0]) * w(r[0], s[1]); },
      graph::NodeKind::kWindow);
  return graph::ExtractTasks(b.Build({{"y", y.id()}}));
}

TunedNetwork Choose(graph::TaskGraph network, ConstantForms* forms) {
  return TunedNetwork::Choose(
      std::move(network), TwoCores(),
      {.zero_trials = {.population = 128, .generations = 2}, .forms = forms, .threads = 2});
}

TEST(ConstantForms, OfAnotherNetworkAreReadAlikeWhereThatCostsLittle) {
  int alike_by_themselves = 0, alike = 0;
  for (const int64_t rows : {4, 16, 64}) {
    ConstantForms forms;
    Choose(Product(1), &forms);
    const TunedNetwork alone = Choose(Product(rows), nullptr);
    const auto wanted = forms.Of(alone.network, alone.network.tasks[0]);
    ASSERT_TRUE(wanted);
    const TunedNetwork beside = Choose(Product(rows), &forms);
    alike_by_themselves += wanted->is_alike(alone.chosen[0].program) ? 1 : 0;
    alike += wanted->is_alike(beside.chosen[0].program) ? 1 : 0;
    EXPECT_LE(feature::EstimateCodeTime(beside.chosen[0].program, TwoCores()),
              1.151 * feature::EstimateCodeTime(alone.chosen[0].program, TwoCores()));
  }
  EXPECT_GT(alike, alike_by_themselves);
}

TEST(ConstantForms, OfOtherConstantsSayNothing) {
  ConstantForms forms;
  Choose(Product(1, 1), &forms);
  const graph::TaskGraph other = Product(1, 2);
  EXPECT_FALSE(forms.Of(other, other.tasks[0]));
}

}  // namespace
}  // namespace bayloom::tuning

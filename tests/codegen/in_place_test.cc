// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Intermediates that are kept in the memory of an output.

#include "bayloom/sketch/design_space.h"
#include "tests/codegen/compiled.h"
#include "tests/plan/normalized_rows.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

using tensor::Tensor;

/// A product reads all of what is kept in the output before any of the output is written, although
/// what comes after it is otherwise computed tile by tile.
TEST(InPlace, AProductOfWhatIsKeptIsNotOverwritten) {
  constexpr int64_t kSize = 96;
  tensor::WorkloadBuilder b("product");
  const Tensor x = b.Input("x", {kSize, kSize});
  const Tensor w = b.Input("w", {kSize, kSize});
  const Tensor t = b.Compute("t", {kSize, kSize}, [&](const auto& s) {
    return tensor::Unary(tensor::ExprOp::kExp, x(s[0], s[1]));
  });
  const Tensor c = b.Reduce("c", {kSize, kSize}, {{"k", kSize}}, tensor::Reduction::kSum,
                            [&](auto s, auto r) { return t(s[0], r[0]) * w(r[0], s[1]); });
  const Tensor y =
      b.Compute("y", {kSize, kSize}, [&](const auto& s) { return c(s[0], s[1]) + t(s[0], s[1]); });
  const tensor::Workload workload = b.Build({y});
  std::vector<tensor::HostTensor> expected = RandomArguments(workload, 5);
  std::vector<tensor::HostTensor> actual = expected;
  tensor::Interpret(tensor::Lower(workload), expected);
  RunCompiled(tensor::Lower(workload), actual, codegen::HostTarget(1));
  ExpectClose(actual.back(), expected.back(), 1e-4, "product");
}

/// Over all design spaces, with and without parallel rows, in rows and for the whole tensor.
TEST(InPlace, ProgramsComputeTheSame) {
  target::Target target = codegen::HostTarget();
  target.cores = 2;
  bayloom_set_threads(2);
  int kept = 0;
  for (const Use use : {Use::kElement, Use::kMirrored, Use::kTransposedRows, Use::kAlsoOutput}) {
    const tensor::Workload workload = RowsOf(use);
    const sketch::SpaceGenerator generator(workload, target);
    const std::vector<tensor::HostTensor> arguments = RandomArguments(workload, 3);
    std::vector<tensor::HostTensor> expected = arguments;
    tensor::Interpret(tensor::Lower(workload), expected);
    for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
      for (uint64_t seed = 0; seed < 2; ++seed) {
        const auto candidate = generator.Sample(space, base::RandomStream(seed));
        if (!candidate) continue;
        kept += !KeeperOf(candidate->program).empty();
        std::vector<tensor::HostTensor> actual = arguments;
        RunCompiled(candidate->program, actual, target);
        for (size_t i = 1; i < actual.size(); ++i) {
          ExpectClose(actual[i], expected[i], 1e-5, tensor::Print(candidate->program));
        }
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(kept, 5);
  bayloom_set_threads(0);
}

}  // namespace
}  // namespace bayloom::testing

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bayloom/codegen/gpu/ptx.h"
#include "bayloom/sketch/gpu/gpu_spaces.h"
#include "bayloom/tensor/warp_matrices.h"
#include "tests/codegen/gpu_run.h"
#include "tests/effort.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {

using tensor::DType;
using ::testing::HasSubstr;
using ::testing::Not;

struct ProductShape {
  int64_t m, n, k;
  DType dtype = DType::kFloat16;
  bool transpose_a = false, transpose_b = false;
  bool narrow = false;  ///< a result of the operands' type, clipped at zero
};

inline tensor::Workload Product(const ProductShape& shape) {
  tensor::WorkloadBuilder b("product");
  using Extents = std::vector<int64_t>;
  const tensor::Tensor x = b.Input(
      "x", shape.transpose_a ? Extents{shape.k, shape.m} : Extents{shape.m, shape.k}, shape.dtype);
  const tensor::Tensor w = b.Constant(
      "w", shape.transpose_b ? Extents{shape.n, shape.k} : Extents{shape.k, shape.n}, shape.dtype);
  const tensor::Tensor y = tensor::Matmul(b, "product", x, w,
                                          {.transpose_a = shape.transpose_a,
                                           .transpose_b = shape.transpose_b,
                                           .accumulator = DType::kFloat32});
  if (!shape.narrow) return b.Build({y});
  return b.Build({tensor::Map(
      b, "narrow", y, [&](tensor::Expr e) { return tensor::Cast(shape.dtype, tensor::Relu(e)); })});
}

/// A convolution with channels last.
inline tensor::Workload Convolution(int64_t size, int64_t channels, int64_t kernels, int64_t kernel,
                                    int64_t pad = 0, DType dtype = DType::kFloat16,
                                    int64_t stride = 1) {
  tensor::Conv2dShape shape = ConvShape(size, channels, kernels, kernel, pad);
  shape.dtype = dtype;
  shape.options.stride = {stride, stride};
  shape.options.accumulator = DType::kFloat32;
  return tensor::Conv2dWorkload(shape);
}

/// float32 operands that are rounded to tf32 where they are read.
inline tensor::Workload RoundedProduct(int64_t m, int64_t n, int64_t k) {
  tensor::WorkloadBuilder b("product");
  const auto rounded = [&](const std::string& name, std::vector<int64_t> shape) {
    return tensor::Map(b, name + "_rounded", b.Input(name, std::move(shape)),
                       [](tensor::Expr e) { return tensor::Cast(DType::kTFloat32, e); });
  };
  const tensor::Tensor x = rounded("x", {m, k}), w = rounded("w", {k, n});
  return b.Build({tensor::Matmul(b, "product", x, w, {.accumulator = DType::kFloat32})});
}

inline bool HasStep(const tensor::Trace& trace, tensor::InstructionKind kind,
                    const std::string& key = "") {
  return std::ranges::any_of(trace.instructions(), [&](const auto& step) {
    return step.kind == kind && (key.empty() || step.text == key);
  });
}

/// The spaces of which the trace is such.
template <typename Predicate>
std::vector<int> SpacesWhere(const sketch::GpuSpaces& spaces, const Predicate& is_such) {
  std::vector<int> found;
  const std::vector<tensor::Trace> traces = spaces.spaces();
  for (size_t space = 0; space < traces.size(); ++space) {
    if (is_such(traces[space])) found.push_back(static_cast<int>(space));
  }
  return found;
}

/// The spaces in which warps multiply, each by itself or in groups.
inline std::vector<int> WarpSpaces(const sketch::GpuSpaces& spaces, bool in_groups = false) {
  return SpacesWhere(spaces, [&](const tensor::Trace& trace) {
    return HasStep(trace, tensor::InstructionKind::kTensorize) &&
           HasStep(trace, tensor::InstructionKind::kAnnotate, tensor::kWarpGroups) == in_groups;
  });
}

inline int WarpSpace(const sketch::GpuSpaces& spaces) { return WarpSpaces(spaces).at(0); }

inline std::string PtxOf(const tensor::Program& program,
                         const std::string& architecture = "sm_90") {
  const auto compiled = codegen::CompileToPtx(program, *target::FindGpuLimits(architecture), "f");
  EXPECT_TRUE(compiled) << compiled.error().message << tensor::Print(program);
  return compiled ? compiled->ptx : "";
}

/// Drawn, mutated and crossed schedules of these spaces are valid, right and without races, in any
/// order of threads, and their PTX has all of `instructions`.
inline void ExpectDrawsAreRight(const sketch::GpuSpaces& spaces,
                                const std::vector<int>& warp_spaces,
                                const std::vector<std::string>& instructions) {
  const tensor::Workload& workload = spaces.workload();
  ASSERT_FALSE(warp_spaces.empty());
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 7);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  int made = 0, valid = 0;
  const auto expect_right = [&](const Result<sketch::Candidate>& candidate, uint64_t seed) {
    ++made;
    if (!candidate) return;
    SCOPED_TRACE(tensor::Print(candidate->program));
    const Status sound = tensor::Validate(candidate->program);
    ASSERT_TRUE(sound) << sound.error().message;
    const std::string ptx = PtxOf(candidate->program, spaces.limits().architecture);
    for (const std::string& instruction : instructions) EXPECT_THAT(ptx, HasSubstr(instruction));
    EXPECT_THAT(ptx, Not(HasSubstr("__local_depot")));
    const auto stand_in = codegen::StandIn::Compile(candidate->program, spaces.limits());
    ASSERT_TRUE(stand_in) << stand_in.error().message;
    ++valid;
    std::vector<tensor::HostTensor> actual = inputs;
    const codegen::StandInOptions options{static_cast<codegen::StandInOptions::Order>(seed % 3),
                                          seed};
    const Status done = RunOnStandIn(candidate->program, *stand_in, actual, options);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(CountWrong(candidate->program, actual, expected), 0);
  };
  for (uint64_t i = 0; i < 2 * static_cast<uint64_t>(Effort()); ++i) {
    const int space = warp_spaces[i % warp_spaces.size()];
    const auto stream = [&](uint64_t number) { return base::RandomStream(4 * i + number); };
    const auto a = spaces.Sample(space, stream(0)), b = spaces.Sample(space, stream(1));
    expect_right(a, i);
    if (!a || !b) continue;
    expect_right(spaces.Cross(space, a->trace, b->trace, stream(2)), i + 1);
    const auto mutant = spaces.Mutate(space, b->trace, stream(3));
    if (mutant) expect_right(mutant, i + 2);
    if (::testing::Test::HasFailure()) return;
  }
  ::testing::Test::RecordProperty("made", made);
  ::testing::Test::RecordProperty("valid", valid);
  EXPECT_EQ(valid, made);
}

inline void ExpectWarpProductsAreRight(const NamedWorkload& named) {
  std::vector<std::string> instructions = {"mma.sync"};
  // Elements of 32 bits may be loaded one by one.
  if (!named.name.starts_with("tf32")) instructions.emplace_back("ldmatrix");
  const sketch::GpuSpaces spaces(named.workload, Hopper());
  ExpectDrawsAreRight(spaces, WarpSpaces(spaces), instructions);
}

}  // namespace bayloom::testing

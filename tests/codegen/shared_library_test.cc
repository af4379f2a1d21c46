// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/shared_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/link.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "tests/codegen/compiled.h"
#include "tests/tensor/library_calls.h"

namespace bayloom::codegen {
namespace {

using ::testing::HasSubstr;

KernelObject Linked(const tensor::Program& program) {
  Result<KernelObject> kernel = CompileProgram(program, HostTarget(2), "kernel");
  EXPECT_TRUE(kernel) << kernel.error().message;
  EXPECT_FALSE(IsSharedLibrary(kernel->object));
  kernel->object = LinkSharedLibrary(kernel->object);
  EXPECT_TRUE(IsSharedLibrary(kernel->object));
  return *std::move(kernel);
}

/// As a library the program computes what it does as an object.
void ExpectSame(const tensor::Program& program, const std::vector<tensor::HostTensor>& arguments) {
  std::vector<tensor::HostTensor> expected = arguments, actual = arguments;
  bayloom::testing::RunCompiled(program, expected, HostTarget(2));
  bayloom::testing::RunObject(Linked(program), program, actual);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(actual[i].data, expected[i].data) << i;
}

TEST(SharedLibrary, ComputesWhatTheObjectDoes) {
  bayloom_set_threads(2);
  base::RandomStream random(1);
  const tensor::Workload product = tensor::ParseOperator("matmul:64,48,32");
  std::vector<tensor::HostTensor> arguments;
  for (const tensor::BufferId id : product.Parameters()) {
    const tensor::Buffer& buffer = product.buffers[id];
    arguments.push_back(
        buffer.role == tensor::BufferRole::kOutput
            ? tensor::HostTensor::Zeros(buffer.dtype, buffer.shape)
            : bayloom::testing::RandomNumbers(buffer.dtype, buffer.shape, random, true));
  }
  ExpectSame(sketch::DefaultSchedule(product, HostTarget(2)), arguments);
  // What is called is found in this program: kernels of the runtime, and of libm.
  const auto topk =
      bayloom::testing::SampleTopK(tensor::DType::kFloat32, 3, 200, 1, 5, true, random);
  ExpectSame(tensor::Lower(topk.workload), topk.arguments);
  tensor::WorkloadBuilder builder("sinh");
  const tensor::Tensor x = builder.Input("x", {40});
  const tensor::Tensor y = builder.Compute(
      "y", {40}, [&](const auto& i) { return tensor::Unary(tensor::ExprOp::kSinh, x(i[0])); });
  ExpectSame(tensor::Lower(builder.Build({y})),
             {bayloom::testing::RandomNumbers(tensor::DType::kFloat32, {40}, random, true),
              tensor::HostTensor::Zeros(tensor::DType::kFloat32, {40})});
  bayloom_set_threads(0);
}

/// Libraries with the same names in them, and those whose file in memory gets the number of one
/// that is gone, are not taken for each other.
TEST(SharedLibrary, EqualSymbolsDoNotMeet) {
  const tensor::Program small = tensor::Lower(tensor::ParseOperator("matmul:8,4,2"));
  const tensor::Program product = tensor::Lower(tensor::ParseOperator("matmul:4,4,4"));
  const KernelObject first = Linked(small), second = Linked(product);
  for (int i = 0; i < 3; ++i) {
    const Result<LoadedLibrary> one = LoadedLibrary::Load(first.object, first.symbol);
    const Result<LoadedLibrary> two = LoadedLibrary::Load(second.object, second.symbol);
    ASSERT_TRUE(one && two);
    EXPECT_NE(one->function(), two->function());
  }
}

TEST(SharedLibrary, RefusesWhatIsNone) {
  const KernelObject kernel = Linked(tensor::Lower(tensor::ParseOperator("matmul:4,4,4")));
  const auto why = [&](const std::string& bytes, const std::string& symbol) {
    const Result<LoadedLibrary> loaded = LoadedLibrary::Load(bytes, symbol);
    EXPECT_FALSE(loaded);
    return loaded ? std::string() : loaded.error().message;
  };
  EXPECT_THAT(why(kernel.object, "other"), HasSubstr("it is not in the library"));
  EXPECT_THAT(why("nonsense", "kernel"), HasSubstr("cannot load 'kernel'"));
  std::string elsewhere = kernel.object;
  elsewhere[18] = static_cast<char>(elsewhere[18] ^ 1);  // the architecture in its header
  EXPECT_TRUE(IsSharedLibrary(elsewhere));
  EXPECT_THAT(why(elsewhere, "kernel"), HasSubstr("cannot load 'kernel'"));
  EXPECT_FALSE(IsSharedLibrary(""));
  EXPECT_FALSE(IsSharedLibrary("#!/bin/sh"));
}

}  // namespace
}  // namespace bayloom::codegen

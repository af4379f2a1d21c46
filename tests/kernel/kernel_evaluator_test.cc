// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/kernel/kernel_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "bayloom/base/result.h"
#include "bayloom/kernel/array_file.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/opencl_library.h"
#include "tests/kernel/kernel_under_test.h"
#include "tests/message_of.h"

namespace bayloom::kernel {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

bool HasProgram(const char* name) {
  return std::system(fmt::format("command -v {} > /dev/null", name).c_str()) == 0;
}

std::string Floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::vector<float> FloatsOf(const std::string& npy) {
  const size_t begin = npy.find('\n') + 1;
  std::vector<float> values((npy.size() - begin) / sizeof(float));
  std::memcpy(values.data(), npy.data() + begin, values.size() * sizeof(float));
  return values;
}

/// What the kernel wrote, of its first array.
std::vector<float> OutputOf(KernelUnderTest& kernel,
                            const std::map<std::string, space::Value>& values) {
  const auto outputs = kernel.evaluator().RunOnce(kernel.Configuration(values), {});
  if (!outputs) {
    ADD_FAILURE() << outputs.error().message;
    return {};
  }
  return FloatsOf(outputs->front().second);
}

/// Short, and with patience.
const std::string kTiming = "  timing: {time: 1ms}\n  timeout: 120s\n";

TEST(KernelEvaluator, PassesArgumentsAsTheyAreDeclared) {
  KernelUnderTest kernel("sum.c", R"(
#include <stdint.h>
void sum(float* out, const double* d, const uint8_t* u, int n, float alpha, int64_t tile,
         unsigned short s) {
  for (int i = 0; i < n; ++i) out[i] = d[i] + u[i] + alpha + tile + s + SHIFT;
})",
                         "parameters: {tile: [3, 5], SHIFT: [100, 200]}\n"
                         "evaluator:\n"
                         "  kernel: sum.c\n"
                         "  sizes: {n: 4, m: 2}\n"
                         "  arguments:\n"
                         "    - out float out[n / m][m]\n"
                         "    - in double d[n] = range\n"
                         "    - in uint8_t u[n] = 7\n"
                         "    - int n\n"
                         "    - float alpha = 0.5\n"
                         "    - int64_t tile\n"
                         "    - unsigned short s = 10 * m + tile\n" +
                             kTiming);
  EXPECT_THAT(OutputOf(kernel, {{"tile", 5}, {"SHIFT", 200}}),
              ElementsAre(237.5, 238.5, 239.5, 240.5));
  const trial::Outcome outcome = kernel.Evaluate({{"tile", 3}, {"SHIFT", 100}});
  EXPECT_TRUE(outcome.ok()) << outcome.reason;
}

/// Each run begins with what the array is filled with, also while it is timed.
TEST(KernelEvaluator, RestoresWhatARunReadsAndWrites) {
  KernelUnderTest kernel("add.c",
                         "void add(float* x) { for (int i = 0; i < 3; ++i) x[i] += STEP; }\n"
                         "void right(float* x) { for (int i = 0; i < 3; ++i) x[i] = i + 1; }\n",
                         "parameters: {STEP: [1, 2]}\n"
                         "evaluator:\n"
                         "  kernel: add.c\n"
                         "  arguments: ['inout float x[3] = range']\n"
                         "  reference: right\n" +
                             kTiming);
  const trial::Outcome right = kernel.Evaluate({{"STEP", 1}});
  EXPECT_TRUE(right.ok()) << right.reason;
  EXPECT_GE(measure::DetailsOf(right).batches.size(), 7u) << "the times of a trial are kept";
  const trial::Outcome wrong = kernel.Evaluate({{"STEP", 2}});
  EXPECT_EQ(wrong.verdict, trial::Verdict::kWrongOutput);
  EXPECT_THAT(wrong.reason, HasSubstr("element 0 of 'x' is 2, expected 1"));
}

TEST(KernelEvaluator, ComparesWithTheFirstConfigurationUnlessTold) {
  const std::string source = "void f(float* x) { x[0] = v; }\n";
  const auto outcome_of = [&](const std::string& reference, int64_t first, int64_t second) {
    KernelUnderTest kernel("f.c", source,
                           "parameters: {v: [1, 2, 3]}\n"
                           "evaluator:\n"
                           "  kernel: f.c\n"
                           "  arguments: ['out float x[1]']\n" +
                               reference + kTiming);
    kernel.Write("two.npy", NumpyFile(Floats({2}), tensor::DType::kFloat32, 1));
    kernel.Write("two.bin", Floats({2}));
    if (first > 0) {
      EXPECT_TRUE(kernel.Evaluate({{"v", first}}).ok());
    }
    return kernel.Evaluate({{"v", second}});
  };
  EXPECT_TRUE(outcome_of("", 1, 1).ok());
  EXPECT_THAT(outcome_of("", 1, 2).reason, HasSubstr("is 2, expected 1"));
  EXPECT_TRUE(outcome_of("  reference: none\n", 1, 2).ok());
  EXPECT_TRUE(outcome_of("  reference: {configuration: {v: 2}}\n", 0, 2).ok());
  EXPECT_THAT(outcome_of("  reference: {configuration: {v: 2}}\n", 0, 3).reason,
              HasSubstr("is 3, expected 2"));
  EXPECT_TRUE(outcome_of("  reference: {files: {x: two.npy}}\n", 0, 2).ok());
  EXPECT_THAT(outcome_of("  reference: {files: {x: two.bin}}\n", 0, 1).reason,
              HasSubstr("is 1, expected 2"));
  EXPECT_TRUE(
      outcome_of("  reference: {files: {x: two.npy}}\n  tolerance: {absolute: 1}\n", 0, 3).ok());
}

TEST(KernelEvaluator, SaysWhyAReferenceDoesNotServe) {
  KernelUnderTest kernel("f.c", "void f(float* x) { x[0] = v; }\n",
                         "parameters: {v: [1, 2]}\n"
                         "evaluator: {kernel: f.c, arguments: ['out float x[1]'], reference: g}\n");
  EXPECT_THAT(MessageOf([&] {
                kernel.Evaluate({{"v", 1}});
              }),
              AllOf(HasSubstr("the reference has no results"), HasSubstr("g")));
}

TEST(KernelEvaluator, TimesSeveralSizes) {
  KernelUnderTest kernel("f.c", R"(
void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] = i < 200 ? 1 : value; }
void right(float* x, int n) { for (int i = 0; i < n; ++i) x[i] = 1; }
)",
                         "parameters: {value: [1, 2]}\n"
                         "minimize: seconds\n"
                         "evaluator:\n"
                         "  kernel: f.c\n"
                         "  sizes: [{n: 100}, {n: 400}]\n"
                         "  arguments: ['out float x[n]', int n]\n"
                         "  reference: right\n" +
                             kTiming);
  const trial::Outcome right = kernel.Evaluate({{"value", 1}});
  ASSERT_TRUE(right.ok()) << right.reason;
  const std::vector<measure::TimeAtSizes> times = measure::DetailsOf(right).at_sizes;
  ASSERT_EQ(times.size(), 2u);
  EXPECT_THAT(times[1].sizes, ElementsAre(400));
  EXPECT_NEAR(right.value, std::sqrt(times[0].seconds * times[1].seconds), 1e-3 * right.value);
  EXPECT_THAT(kernel.Evaluate({{"value", 2}}).reason, HasSubstr("(sizes 400)"));
}

TEST(KernelEvaluator, TakesTheTimeThatAFunctionReturns) {
  KernelUnderTest kernel("f.c", "double f(float* x) { x[0] = 1; return half / 2.0; }\n",
                         "parameters: {half: [1, 3]}\n"
                         "minimize: microseconds\n"
                         "evaluator:\n"
                         "  kernel: f.c\n"
                         "  arguments: ['out float x[1]']\n"
                         "  timing: {time: 1ms, returned: ms}\n");
  EXPECT_DOUBLE_EQ(kernel.Evaluate({{"half", 3}}).value, 1500);
  EXPECT_DOUBLE_EQ(kernel.Evaluate({{"half", 1}}).value, 500);
}

TEST(KernelEvaluator, CompilesWithFlagsAndMacros) {
  KernelUnderTest kernel("f.c",
                         "void f(float* x) { x[0] = TWICE; x[1] = OTHER; x[2] = __OPTIMIZE__; }\n",
                         "parameters: {level: ['-O0', '-O1'], other: [4, 8]}\n"
                         "evaluator:\n"
                         "  kernel: f.c\n"
                         "  arguments: ['out float x[3]']\n"
                         "  flags: '{level} -DOTHER={other}'\n"
                         "  defines: {TWICE: 2 * other + 0.5}\n" +
                             kTiming);
  EXPECT_THAT(OutputOf(kernel, {{"level", "-O1"}, {"other", 8}}), ElementsAre(16.5, 8, 1));
  EXPECT_THAT(kernel.Evaluate({{"level", "-O0"}, {"other", 8}}).reason, HasSubstr("__OPTIMIZE__"));
}

TEST(KernelEvaluator, CallsTemplatesOfCpp) {
  KernelUnderTest kernel("f.cc",
                         "namespace a { template <typename T> void f(const T* x, T* y) {\n"
                         "  y[0] = x[0] * factor; } }\n",
                         "parameters: {factor: [2, 3]}\n"
                         "evaluator:\n"
                         "  kernel: f.cc\n"
                         "  function: a::f<float>\n"
                         "  arguments: ['in float x[1] = 5', 'out float y[1]']\n" +
                             kTiming);
  EXPECT_THAT(OutputOf(kernel, {{"factor", 3}}), ElementsAre(15));
}

TEST(KernelEvaluator, PassesArraysOfNumbersAsVectors) {
  KernelUnderTest kernel(
      "f.cc",
      "typedef float lanes __attribute__((vector_size(16)));\n"
      "extern \"C\" void f(const lanes* x, lanes* y) { y[0] = x[0] * factor; }\n",
      "parameters: {factor: [2, 3]}\n"
      "evaluator:\n"
      "  kernel: f.cc\n"
      "  arguments: ['in float x[4] = range', 'out float y[4]']\n" +
          kTiming);
  EXPECT_THAT(OutputOf(kernel, {{"factor", 2}}), ElementsAre(0, 2, 4, 6));
}

TEST(KernelEvaluator, CallsFortran) {
  if (!HasProgram("gfortran")) GTEST_SKIP() << "gfortran is not installed";
  const std::string body =
      "  real(c_float), intent(in) :: x(n)\n"
      "  real(c_float), intent(out) :: y(n)\n"
      "  y = factor * x\n";
  const std::string rest =
      "parameters: {factor: [2, 3]}\n"
      "evaluator:\n"
      "  kernel: f.f90\n"
      "  sizes: {n: 2}\n"
      "  arguments: ['out float y[n]', 'in float x[n] = range', int n]\n" +
      kTiming;
  const std::string by_reference = "  integer(c_int), intent(in) :: n\n";
  const std::string external =
      "subroutine F(y, x, n)\n  use iso_c_binding\n" + by_reference + body + "end subroutine\n";
  const std::string in_module = "module m\ncontains\n" + external + "end module m\n";
  const std::string bound =
      "subroutine f(y, x, n) bind(C)\n  use iso_c_binding\n"
      "  integer(c_int), value :: n\n" +
      body + "end subroutine\n";
  for (const std::string& source : {external, in_module, bound}) {
    KernelUnderTest kernel("f.f90", source, rest);
    EXPECT_THAT(OutputOf(kernel, {{"factor", 3}}), ElementsAre(0, 3)) << source;
    EXPECT_TRUE(kernel.Evaluate({{"factor", 3}}).ok());
  }
}

TEST(KernelEvaluator, CutsShortWhatIsClearlySlower) {
  KernelUnderTest kernel("f.c",
                         "void f(float* x) {\n"
                         "  for (volatile int i = 0; i < rounds; ) i = i + 1;\n"
                         "  x[0] = 1;\n}\n",
                         "parameters: {rounds: [1000, 100000]}\n"
                         "evaluator: {kernel: f.c, arguments: ['out float x[1]'],"
                         " timing: {time: 1ms}}\n");
  EXPECT_FALSE(measure::DetailsOf(kernel.Evaluate({{"rounds", 1000}})).cut_short);
  EXPECT_TRUE(measure::DetailsOf(kernel.Evaluate({{"rounds", 100000}})).cut_short);
  kernel.evaluator().BeginRepeats();
  EXPECT_FALSE(measure::DetailsOf(kernel.Evaluate({{"rounds", 1000}})).cut_short);
}

TEST(KernelEvaluator, RefusesWhatCannotBeCalled) {
  const auto message_of = [](const std::string& evaluator) {
    return MessageOf([&] {
      KernelUnderTest kernel(
          "f.c", "void f(float* x) { x[0] = v; }\n",
          "parameters: {v: [1, 2]}\nevaluator: {kernel: f.c, " + evaluator + "}\n");
      kernel.Evaluate({{"v", 1}});
    });
  };
  EXPECT_THAT(message_of("arguments: ['out float x[m]']"), HasSubstr("'m'"));
  EXPECT_THAT(message_of("arguments: ['out float x[0.5]']"), HasSubstr("whole number"));
  EXPECT_THAT(message_of("arguments: ['in float x[2] = file(no.npy)']"), HasSubstr("no.npy"));
  EXPECT_THAT(message_of("arguments: ['out float x[1]'], compiler: no-such-compiler"),
              HasSubstr("no-such-compiler"));
}

TEST(ArrayFile, OfAnotherTypeOrLengthIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  std::ofstream(path) << NumpyFile(Floats({1, 2}), tensor::DType::kFloat32, 2);
  EXPECT_EQ(ReadArrayFile(path, tensor::DType::kFloat32, 2), Floats({1, 2}));
  EXPECT_THAT(MessageOf([&] { ReadArrayFile(path, tensor::DType::kInt32, 2); }),
              HasSubstr("does not hold elements of type int32"));
  EXPECT_THAT(MessageOf([&] { ReadArrayFile(path, tensor::DType::kFloat32, 3); }),
              HasSubstr("has 8 bytes of elements, and the array has 12"));
}

/// Tests of OpenCL are skipped where it is not installed.
class OpenClKernel : public testing::Test {
 protected:
  void SetUp() override {
    const Result<const measure::OpenCl*> cl = measure::LoadOpenCl();
    if (!cl) GTEST_SKIP() << cl.error().message;
    const auto device = measure::FindOpenClDevice(**cl, 0, 0);
    if (!device) GTEST_SKIP() << device.error().message;
  }
};

constexpr const char* kOpenClSource = R"(
__kernel void scale(__global float* y, __global const float* x, int n, __local float* shared) {
  const int i = get_global_id(0);
  if (fault == 2 && i == 0) y[n + 1] = 1;
  if (fault == 3 && i == 0) y[n + 100000] = 1;
  if (fault == 4 && get_group_id(0) == 1) return;
  shared[get_local_id(0)] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n - (fault == 1)) y[i] = 2 * shared[get_local_id(0)];
  if (fault == 5) y[i] = no_such_name;
}
)";

const char* const kOpenClRest =
    "parameters: {fault: [0, 1, 2, 3, 4, 5], block_size_x: [32, 64, 1000000]}\n"
    "evaluator:\n"
    "  kernel: scale.cl\n"
    "  sizes: {n: 256}\n"
    "  problem_size: [n]\n"
    "  arguments: ['out float y[n]', 'in float x[n]', int n, 'local float s[block_size_x]']\n"
    "  reference: {configuration: {fault: 0, block_size_x: 32}}\n"
    "  timing: {time: 1ms}\n"
    "  timeout: 120s\n";

TEST_F(OpenClKernel, IsComparedAndTimed) {
  std::string source = kOpenClSource;
  source.erase(source.find("  if (fault == 5)"),
               std::string("  if (fault == 5) y[i] = no_such_name;").size());
  KernelUnderTest kernel("scale.cl", source, kOpenClRest);
  const auto outcome_of = [&](int64_t fault, int64_t block) {
    return kernel.Evaluate({{"fault", fault}, {"block_size_x", block}});
  };
  const trial::Outcome right = outcome_of(0, 64);
  EXPECT_TRUE(right.ok()) << right.reason;
  EXPECT_GT(right.value, 0);
  EXPECT_THAT(outcome_of(1, 64).reason, HasSubstr("element 255 of 'y' was never written"));
  EXPECT_THAT(outcome_of(2, 64).reason, HasSubstr("past the end of output 'y'"));
  EXPECT_EQ(outcome_of(3, 64).verdict, trial::Verdict::kCrash);
  EXPECT_THAT(outcome_of(4, 64).reason, HasSubstr("element 64 of 'y' was never written"));
  const trial::Outcome large = outcome_of(0, 1000000);
  EXPECT_EQ(large.verdict, trial::Verdict::kMemory) << large.reason;
  EXPECT_TRUE(outcome_of(0, 64).ok());
}

TEST_F(OpenClKernel, ThatDoesNotCompileSaysWhy) {
  KernelUnderTest kernel("scale.cl", kOpenClSource, kOpenClRest);
  EXPECT_THAT(MessageOf([&] {
                kernel.Evaluate({{"fault", 0}, {"block_size_x", 64}});
              }),
              HasSubstr("no_such_name"));
}

}  // namespace
}  // namespace bayloom::kernel

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/kernel/kernel_under_test.h"

namespace bayloom::kernel {
namespace {

using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// y = 2 x, but for a fault that the macro `fault` chooses.
constexpr const char* kSource = R"(
#include <math.h>
#include <stdlib.h>
enum { none, off_by_one, one_byte, nan_, hang, one_block, aborts, leak, writes_input, far, leaves,
       later, before, no_compile };
#define BLOCK 100
static volatile int calls;
void* volatile kept;
void scale(const float* x, float* y, int n) {
  for (int i = 0; i < n - (fault == off_by_one); ++i) y[i] = 2 * x[i];
  ++calls;
  if (fault == one_byte) ((volatile char*)y)[n * 4] = 1;
  if (fault == nan_) y[n / 2] = NAN;
  if (fault == hang) for (volatile int i = 0;; ) (void)i;
  if (fault == one_block) for (int i = 3 * BLOCK; i < 4 * BLOCK; ++i) y[i] = x[i];
  if (fault == aborts) abort();
  if (fault == leak) kept = malloc(4096);
  if (fault == writes_input) ((volatile float*)x)[0] = 1;
  if (fault == far) y[0] += ((volatile const float*)x)[n + 100000] * 0;
  if (fault == leaves) exit(0);
  if (fault == later && calls > 3) y[7] = 0;
  if (fault == before) ((volatile float*)y)[-1] = 1;
}
void right(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] + x[i];
}
)";

struct Fault {
  const char* name;
  trial::Verdict verdict;
  const char* reason;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class PlantedFault : public testing::TestWithParam<Fault> {};

/// Each costs its own trial, is called by its name, and the next trial finds everything in order.
TEST_P(PlantedFault, IsChargedToOneTrial) {
  const Fault& fault = GetParam();
  if (kSanitized && std::string_view(fault.name) == "leak") GTEST_SKIP() << "another allocator";
  KernelUnderTest kernel(
      "scale.c", kSource,
      "parameters:\n"
      "  fault: [none, off_by_one, one_byte, nan_, hang, one_block, aborts, leak,"
      " writes_input, far, leaves, later, before, no_such_name]\n"
      "evaluator:\n"
      "  kernel: scale.c\n"
      "  arguments: ['in float x[n]', 'out float y[n]', int n]\n"
      "  sizes: {n: 1003}\n"
      "  reference: right\n"
      "  timing: {time: 2ms}\n"
      "  timeout: " +
          std::string(fault.verdict == trial::Verdict::kTimeout ? "5s" : "120s") + "\n");
  const trial::Outcome first = kernel.Evaluate({{"fault", "none"}});
  EXPECT_TRUE(first.ok()) << first.reason;
  EXPECT_GT(first.value, 0);
  const trial::Outcome faulty = kernel.Evaluate({{"fault", fault.name}});
  EXPECT_EQ(trial::ToString(faulty.verdict), trial::ToString(fault.verdict)) << faulty.reason;
  EXPECT_THAT(faulty.reason, HasSubstr(fault.reason));
  const trial::Outcome last = kernel.Evaluate({{"fault", "none"}});
  EXPECT_TRUE(last.ok()) << last.reason;
}

INSTANTIATE_TEST_SUITE_P(
    All, PlantedFault,
    testing::Values(
        Fault{"off_by_one", trial::Verdict::kWrongOutput, "element 1002 of 'y' was never written"},
        Fault{"one_byte", trial::Verdict::kWrongOutput, "wrote 1 bytes past the end of output 'y'"},
        Fault{"nan_", trial::Verdict::kWrongOutput, "element 501 of 'y' is nan"},
        Fault{"hang", trial::Verdict::kTimeout, "did not end within 5 s"},
        Fault{"one_block", trial::Verdict::kWrongOutput, "element 300 of 'y'"},
        Fault{"aborts", trial::Verdict::kCrash, "SIGABRT"},
        Fault{"leak", trial::Verdict::kMemory, "leaks memory"},
        Fault{"writes_input", trial::Verdict::kCrash, "input 'x'"},
        Fault{"far", trial::Verdict::kCrash, "in its first run"},
        Fault{"leaves", trial::Verdict::kCrash, "exit code 0"},
        Fault{"later", trial::Verdict::kWrongOutput, "in a later run, element 7 of 'y'"},
        Fault{"before", trial::Verdict::kWrongOutput, "before the start of output 'y'"},
        Fault{"no_such_name", trial::Verdict::kBuildError, "no_such_name"}),
    [](const auto& fault) { return std::string(fault.param.name); });

}  // namespace
}  // namespace bayloom::kernel

#include "bayloom/graph/conformance.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "bayloom/graph/evaluate.h"

namespace bayloom {
namespace {

const char* const kNodeTests = "/usr/share/libonnx-testdata/data/node";

/// ONNX's own tests of its operators: none wrong, each unsupported one refused in one line.
TEST(Conformance, NodeTests) {
  if (!std::filesystem::exists(kNodeTests)) GTEST_SKIP() << "libonnx-testdata is not installed";
  int passed = 0;
  for (const ConformanceResult& result : RunConformanceTests(kNodeTests, EvaluateGraph)) {
    EXPECT_NE(result.verdict, ConformanceVerdict::kWrong) << result.test << ": " << result.reason;
    passed += result.verdict == ConformanceVerdict::kPassed;
    EXPECT_EQ(result.reason.find('\n'), std::string::npos) << result.test;
  }
  RecordProperty("passed", passed);
  EXPECT_GE(passed, 819);
}

}  // namespace
}  // namespace bayloom

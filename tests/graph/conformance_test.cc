#include "bayloom/graph/conformance.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "bayloom/graph/evaluate.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"

namespace bayloom {
namespace {

const char* const kNodeTests = "/usr/share/libonnx-testdata/data/node";

/// ONNX's own tests of its operators: none wrong, each unsupported one refused in one line.
void ExpectConformance(const GraphEvaluator& evaluate) {
  if (!std::filesystem::exists(kNodeTests)) GTEST_SKIP() << "libonnx-testdata is not installed";
  int passed = 0;
  for (const ConformanceResult& result : RunConformanceTests(kNodeTests, evaluate)) {
    EXPECT_NE(result.verdict, ConformanceVerdict::kWrong) << result.test << ": " << result.reason;
    EXPECT_EQ(result.reason.find('\n'), std::string::npos) << result.test;
    passed += result.verdict == ConformanceVerdict::kPassed;
  }
  testing::Test::RecordProperty("passed", passed);
  EXPECT_GE(passed, 819);
}

TEST(Conformance, ImportedGraphs) { ExpectConformance(EvaluateGraph); }

TEST(Conformance, FusedTasks) {
  ExpectConformance([](const Graph& graph, const std::vector<HostTensor>& inputs) {
    Graph optimized = graph;
    Optimize(optimized);
    return InterpretTasks(ExtractTasks(std::move(optimized)), inputs);
  });
}

}  // namespace
}  // namespace bayloom

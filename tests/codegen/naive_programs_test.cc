#include "tests/codegen/compiled.h"
#include "tests/tensor/workloads.h"

namespace bayloom {
namespace {

using testing::ExpectMatchesInterpreter;

TEST(NaiveProgramsTest, ComputeWhatTheInterpreterComputes) {
  for (const auto& [name, workload] : testing::Catalogue()) {
    SCOPED_TRACE(name);
    const Program program = Lower(workload);
    ExpectMatchesInterpreter(program, testing::RandomArguments(workload, 1), name);
  }
}

}  // namespace
}  // namespace bayloom

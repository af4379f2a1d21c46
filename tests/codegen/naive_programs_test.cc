// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/codegen/compiled.h"
#include "tests/tensor/workloads.h"

namespace bayloom::codegen {
namespace {

using testing::ExpectMatchesInterpreter;

TEST(NaiveProgramsTest, ComputeWhatTheInterpreterComputes) {
  for (const auto& [name, workload] : testing::Catalogue()) {
    SCOPED_TRACE(name);
    const tensor::Program program = tensor::Lower(workload);
    ExpectMatchesInterpreter(program, testing::RandomArguments(workload, 1), name);
  }
}

}  // namespace
}  // namespace bayloom::codegen

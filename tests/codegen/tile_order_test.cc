// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Products whose columns are no whole registers: all columns of a row are in a tile.

#include <sstream>
#include <string>

#include "bayloom/codegen/compile.h"
#include "bayloom/tensor/primitives.h"
#include "tests/codegen/compiled.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

/// rows | reduction | columns, in vectors.
tensor::Program ProductByRows(int64_t rows, int64_t columns, int64_t terms) {
  tensor::Program program = tensor::Lower(tensor::MatmulWorkload(rows, columns, terms));
  const std::vector<tensor::LoopId> loops =
      program.LoopsAround(tensor::NodeRef::Block(program.BlocksInOrder().back()));
  EXPECT_TRUE(tensor::Reorder(program, std::vector{loops[0], loops[2], loops[1]}));
  EXPECT_TRUE(tensor::Vectorize(program, loops[1]));
  return program;
}

/// Lines that have both parts.
size_t CountLines(const std::string& code, const std::string& part, const std::string& other) {
  std::istringstream lines(code);
  size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    count += line.find(part) != std::string::npos && line.find(other) != std::string::npos;
  }
  return count;
}

/// As many rows as fit beside a row's registers, the widest first, with tails of every length.
TEST(TileOrder, TilesOfAllColumnsComputeTheProduct) {
  const target::Target target = codegen::HostTarget();
  const int64_t lanes = target.vector_bytes / 4;
  base::RandomStream random(9);
  for (int i = 0; i < 40; ++i) {
    const int64_t rows = 1 + random.UniformInt(8), terms = 1 + random.UniformInt(20);
    const int64_t columns = 1 + random.UniformInt(14 * lanes);
    const tensor::Workload workload = tensor::MatmulWorkload(rows, columns, terms);
    const tensor::Program program = ProductByRows(rows, columns, terms);
    ExpectMatchesInterpreter(program, RandomArguments(workload, i), tensor::Print(program), target);
    if (HasFatalFailure()) return;
  }
}

/// 13 registers of columns and two rows: a register of columns is loaded once for both.
TEST(TileOrder, TwoRowsShareTheRegistersOfALongRow) {
  target::Target target = codegen::HostTarget();
  if (target::VectorRegisters(target) < 32) GTEST_SKIP() << "two such rows need 28 registers";
  const int64_t lanes = target.vector_bytes / 4;
  const std::string code = *codegen::EmitLlvmIr(ProductByRows(8, 13 * lanes - 11, 64), target, "f");
  const size_t loads =
      CountLines(code, "load <", " x float>") + CountLines(code, "call", "@llvm.masked.load");
  EXPECT_EQ(loads, 13u) << code;
  EXPECT_EQ(CountLines(code, "call", "@llvm.fmuladd.v"), 2 * loads) << code;
}

}  // namespace
}  // namespace bayloom::testing

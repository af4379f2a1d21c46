// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/compile.h"

#include <regex.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"
#include "tests/codegen/compiled.h"
#include "tests/temporary_folder.h"
#include "tests/tensor/workloads.h"

namespace bayloom::codegen {
namespace {

/// A machine with AVX-512, no matter what this one has.
target::Target Avx512Target() {
  target::Target target;
  target.name = "avx512";
  target.triple = "x86_64-pc-linux-gnu";
  target.cpu = "skylake-avx512";
  target.vector_bytes = 64;
  return target;
}

target::Target Avx2Target() {
  target::Target target = Avx512Target();
  target.name = "avx2";
  target.cpu = "haswell";
  target.vector_bytes = 32;
  return target;
}

/// c[height, width] tiled i, j, k, i, j with an inner tile of rows x columns, columns vectorized.
tensor::Program TiledMatmul(int64_t rows, int64_t columns, int64_t height = 64,
                            int64_t width = 64) {
  tensor::Program program = tensor::Lower(tensor::MatmulWorkload(height, width, 64));
  const std::vector<tensor::LoopId> loops =
      program.LoopsAround(tensor::NodeRef::Block(program.BlocksInOrder().back()));
  const std::vector<tensor::LoopId> i =
      *tensor::Split(program, loops[0], std::vector<int64_t>{-1, rows});
  const std::vector<tensor::LoopId> j =
      *tensor::Split(program, loops[1], std::vector<int64_t>{-1, columns});
  EXPECT_TRUE(
      tensor::Reorder(program, std::vector<tensor::LoopId>{i[0], j[0], loops[2], i[1], j[1]}).ok());
  EXPECT_TRUE(tensor::Vectorize(program, j[1]).ok());
  return program;
}

TEST(CompileTest, SaysHowMuchCodeThereIs) {
  tensor::Program unrolled = TiledMatmul(4, 64);
  const std::vector<tensor::LoopId> loops =
      unrolled.LoopsAround(tensor::NodeRef::Block(unrolled.BlocksInOrder().back()));
  EXPECT_TRUE(tensor::Split(unrolled, loops[2], std::vector<int64_t>{-1, 8}).ok());
  EXPECT_TRUE(tensor::AnnotateUnroll(unrolled, loops[0], 64).ok());
  const Result<KernelObject> small = CompileProgram(TiledMatmul(4, 64), Avx512Target(), "small");
  const Result<KernelObject> large = CompileProgram(unrolled, Avx512Target(), "large");
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_GT(small->code_bytes, 0);
  EXPECT_GT(large->code_bytes, small->code_bytes);
  EXPECT_LT(large->code_bytes, std::ssize(large->object)) << "symbols and headers do not count";
}

/// How many matches of a POSIX extended regular expression there are.
int CountMatches(const std::string& text, const std::string& pattern) {
  regex_t regex;
  EXPECT_EQ(regcomp(&regex, pattern.c_str(), REG_EXTENDED), 0) << pattern;
  int count = 0;
  regmatch_t match;
  for (const char* at = text.c_str(); regexec(&regex, at, 1, &match, 0) == 0; ++count) {
    at += match.rm_eo;
  }
  regfree(&regex);
  return count;
}

TEST(CompileTest, AnInnerTileIsMultiplyAddsOnRegisters) {
  const std::string assembly = *EmitAssembly(TiledMatmul(8, 32), Avx512Target(), "matmul");
  EXPECT_EQ(CountMatches(assembly, "vfmadd"), 16);
  EXPECT_EQ(CountMatches(assembly, "\\(%rsp"), 0) << "spills:\n" << assembly;
  // Eight broadcasts and two vectors are loaded in the loop, sixteen vectors stored after it.
  EXPECT_EQ(CountMatches(assembly, "vbroadcastss[ \t]+[-0-9]*\\("), 8);
  EXPECT_EQ(CountMatches(assembly, "vmov[ua]ps[ \t]+%zmm[0-9]+, [-0-9]*\\("), 16);
}

TEST(CompileTest, TilesThatExceedTheRegistersAreCut) {
  for (const auto& [rows, columns] : {std::pair{64, 64}, {32, 64}, {4, 64}, {64, 16}}) {
    const tensor::Program program = TiledMatmul(rows, columns);
    const std::string assembly = *EmitAssembly(program, Avx512Target(), "matmul");
    EXPECT_EQ(CountMatches(assembly, "zmm[0-9]+, [-0-9]*\\(%rsp"), 0) << rows << " x " << columns;
    EXPECT_GE(CountMatches(assembly, "vfmadd"), 8) << rows << " x " << columns;
    const std::string narrow = *EmitAssembly(program, Avx2Target(), "matmul");
    EXPECT_EQ(CountMatches(narrow, "ymm[0-9]+, [-0-9]*\\(%rsp"), 0) << rows << " x " << columns;
  }
}

/// Three rows of four registers: those of columns are loaded in turn, each for all rows.
TEST(CompileTest, ATileThatFillsTheRegistersIsNotSpilled) {
  const std::string assembly = *EmitAssembly(TiledMatmul(3, 32, 27, 32), Avx2Target(), "matmul");
  EXPECT_EQ(CountMatches(assembly, "vfmadd"), 12);
  EXPECT_EQ(CountMatches(assembly, "vbroadcastss"), 3);
  EXPECT_EQ(CountMatches(assembly, "ymm[0-9]+, [-0-9]*\\(%rsp"), 0) << assembly;
  EXPECT_EQ(CountMatches(assembly, "\\(%rsp\\), %ymm"), 0) << assembly;
  EXPECT_EQ(CountMatches(assembly, "fence"), 0) << "what keeps loads in order is no instruction";
}

TEST(CompileTest, RaggedVectorsAreMaskedWhereThereAreMasks) {
  tensor::WorkloadBuilder b("negate");
  const tensor::Tensor x = b.Input("x", {7});
  tensor::Program program =
      tensor::Lower(b.Build({tensor::Map(b, "y", x, [](tensor::Expr e) { return -e; })}));
  ASSERT_TRUE(tensor::Vectorize(program, 0).ok());
  const std::string masked = *EmitAssembly(program, Avx512Target(), "negate");
  EXPECT_GE(CountMatches(masked, "%k[1-7]"), 2);
  const std::string pieces = *EmitAssembly(program, Avx2Target(), "negate");
  EXPECT_EQ(CountMatches(pieces, "%k[1-7]"), 0);
}

TEST(CompileTest, NarrowVectorsComputeTheSame) {
  for (const char* name : {"matmul_prime", "conv2d_pad", "softmax", "gelu_chain"}) {
    const tensor::Workload workload = testing::FindWorkload(name);
    tensor::Program program = tensor::Lower(workload);
    for (tensor::BlockId block : program.BlocksInOrder()) {
      const tensor::LoopId innermost = program.LoopsAround(tensor::NodeRef::Block(block)).back();
      (void)tensor::Vectorize(program, innermost);
    }
    target::Target target = HostTarget();
    for (int bytes : {16, 32}) {
      if (bytes > target.vector_bytes) continue;
      target.vector_bytes = bytes;
      testing::ExpectMatchesInterpreter(program, testing::RandomArguments(workload, 3), name,
                                        target);
    }
  }
}

TEST(CompileTest, ThreadsMayCompileAtTheSameTime) {
  const tensor::Program program = TiledMatmul(8, 32);
  const std::string expected = CompileProgram(program, HostTarget(), "f")->object;
  std::vector<std::thread> threads;
  std::vector<int> equal(4);
  for (int& result : equal) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        result += CompileProgram(program, HostTarget(), "f")->object == expected;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int result : equal) EXPECT_EQ(result, 5);
}

TEST(CompileTest, LoopsOfAcceleratorsAreRefused) {
  tensor::Program program = tensor::Lower(tensor::MatmulWorkload(8, 8, 8));
  ASSERT_TRUE(tensor::Bind(program, 0, tensor::LoopKind::kBlockX).ok());
  const Result<KernelObject> object = CompileProgram(program, HostTarget(), "f");
  ASSERT_FALSE(object.ok());
  EXPECT_NE(object.error().message.find("accelerator"), std::string::npos);
}

TEST(CompileTest, UnknownTargetsAreRefused) {
  target::Target target = HostTarget();
  target.triple = "no-such-machine";
  EXPECT_FALSE(CompileProgram(tensor::Lower(tensor::MatmulWorkload(8, 8, 8)), target, "f").ok());
}

TEST(CompileTest, UnrollingEndsWhereCodeWouldNotFitTheInstructionCache) {
  tensor::Program program = tensor::Lower(tensor::MatmulWorkload(64, 64, 64));
  ASSERT_TRUE(tensor::AnnotateUnroll(program, 0, 1 << 20).ok());
  const Result<KernelObject> object = CompileProgram(program, HostTarget(), "f");
  ASSERT_TRUE(object.ok()) << object.error().message;
  EXPECT_LT(object->object.size(), 64u << 10);
}

TEST(CompileTest, IntermediatesInsideParallelLoopsArePrivateToAWorker) {
  tensor::WorkloadBuilder b("private");
  const tensor::Tensor x = b.Input("x", {16, 8192});
  const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * e; });
  const tensor::Tensor z = tensor::Map(b, "z", y, [](tensor::Expr e) { return e + 1; });
  tensor::Program program = tensor::Lower(b.Build({z}));
  const tensor::LoopId rows =
      program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("z")))[0];
  ASSERT_TRUE(tensor::ComputeAt(program, program.FindBlock("y"), rows).ok());
  ASSERT_TRUE(tensor::Parallelize(program, rows).ok());
  const Result<KernelObject> object = CompileProgram(program, HostTarget(), "f");
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(object->shared_workspace_bytes, 0);
  EXPECT_EQ(object->worker_workspace_bytes, 8192 * 4);
  EXPECT_EQ(object->WorkspaceBytes(3), 3 * 8192 * 4);
}

TEST(JitTest, MissingSymbolsAreReported) {
  KernelObject object = *CompileProgram(TiledMatmul(8, 32), HostTarget(), "f");
  object.symbol = "g";
  EXPECT_FALSE(LoadedKernel::Load(object).ok());
  object.object = "not an object file";
  EXPECT_FALSE(LoadedKernel::Load(object).ok());
}

}  // namespace
}  // namespace bayloom::codegen

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Copies that read in another order than they write: transposed, repeated, apart.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "bayloom/codegen/compile.h"
#include "bayloom/sketch/design_space.h"
#include "tests/codegen/compiled.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

using tensor::DType;
using tensor::Expr;
using Exprs = std::vector<Expr>;

struct Move {
  std::string name;
  std::vector<int64_t> from, to;
  Exprs (*index)(const Exprs& place);  ///< where the element at a place comes from
  DType dtype = DType::kFloat32;
};
void PrintTo(const Move& move, std::ostream* out) { *out << move.name; }

tensor::Workload WorkloadOf(const Move& move) {
  tensor::WorkloadBuilder b(move.name);
  const tensor::Tensor x = b.Input("x", move.from, move.dtype);
  return b.Build(
      {b.Compute("y", move.to, [&](const Exprs& place) { return x.At(move.index(place)); })});
}

Exprs Swapped(const Exprs& s) { return {s[1], s[0]}; }
Exprs ChannelsLast(const Exprs& s) { return {s[2], s[0], s[1]}; }
Exprs ChannelsFirst(const Exprs& s) { return {s[1], s[2], s[0]}; }
Exprs MiddleSwapped(const Exprs& s) { return {s[0], s[2], s[1], s[3]}; }
Exprs Doubled(const Exprs& s) {
  return {s[0], tensor::FloorDiv(s[1], 2), tensor::FloorDiv(s[2], 2)};
}
Exprs Tripled(const Exprs& s) { return {s[0], tensor::FloorDiv(s[1], 3)}; }
Exprs EverySecond(const Exprs& s) { return {s[0], s[1] * Expr(2) + Expr(1)}; }
Exprs Interleaved(const Exprs& s) {
  return {s[0], tensor::FloorMod(s[1], 2), tensor::FloorDiv(s[1], 2)};
}
Exprs Backwards(const Exprs& s) { return {s[0], Expr(36) - s[1]}; }

const Move kMoves[] = {
    {"square", {32, 48}, {48, 32}, Swapped},
    {"odd", {37, 53}, {53, 37}, Swapped},
    {"narrow", {5, 70}, {70, 5}, Swapped},
    {"low", {70, 5}, {5, 70}, Swapped},
    {"single_rows", {1, 33}, {33, 1}, Swapped},
    {"halves", {37, 53}, {53, 37}, Swapped, DType::kFloat16},
    {"doubles", {19, 21}, {21, 19}, Swapped, DType::kFloat64},
    {"bytes", {70, 67}, {67, 70}, Swapped, DType::kInt8},
    {"flags", {20, 18}, {18, 20}, Swapped, DType::kBool},
    {"channels_last", {24, 7, 20}, {7, 20, 24}, ChannelsLast},
    {"three_channels_last", {3, 9, 32}, {9, 32, 3}, ChannelsLast},
    {"channels_first", {9, 20, 24}, {24, 9, 20}, ChannelsFirst},
    {"three_channels_first", {9, 32, 3}, {3, 9, 32}, ChannelsFirst},
    {"heads", {2, 13, 3, 8}, {2, 3, 13, 8}, MiddleSwapped},
    {"doubled", {3, 6, 40}, {3, 12, 80}, Doubled},
    {"doubled_odd", {2, 3, 7}, {2, 6, 14}, Doubled},
    {"tripled", {4, 13}, {4, 39}, Tripled},
    {"every_second", {4, 80}, {4, 40}, EverySecond},
    {"interleaved", {3, 2, 24}, {3, 48}, Interleaved},
    {"backwards", {3, 37}, {3, 37}, Backwards},
};

class MoveTest : public ::testing::TestWithParam<Move> {};

/// For registers of all sizes.
TEST_P(MoveTest, GeneratedCodeMovesAsTheInterpreter) {
  const tensor::Workload workload = WorkloadOf(GetParam());
  for (const int bytes : {16, 32, 64}) {
    target::Target target = codegen::HostTarget();
    if (bytes > target.vector_bytes) continue;
    target.vector_bytes = bytes;
    const sketch::SpaceGenerator generator(workload, target);
    const auto candidate = generator.Sample(0, base::RandomStream(1));
    ASSERT_TRUE(candidate.ok()) << candidate.error().message;
    ASSERT_TRUE(tensor::Validate(candidate->program).ok());
    ExpectMatchesInterpreter(candidate->program, RandomArguments(workload, 3),
                             tensor::Print(candidate->program), target);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MoveTest, ::testing::ValuesIn(kMoves),
                         [](const auto& named) { return named.param.name; });

/// The code of the design space's first program, for one thread.
std::string CodeOf(const std::string& name) {
  const auto move = std::ranges::find(kMoves, name, &Move::name);
  target::Target target = codegen::HostTarget();
  target.cores = 1;
  const sketch::SpaceGenerator generator(WorkloadOf(*move), target);
  const auto candidate = generator.Sample(0, base::RandomStream(1));
  return *codegen::EmitLlvmIr(candidate->program, target, "f");
}

TEST(MoveCode, LoadsAndStoresWholeRegisters) {
  for (const char* name : {"square", "channels_last", "channels_first", "doubled", "interleaved"}) {
    const std::string ir = CodeOf(name);
    EXPECT_EQ(ir.find("load float,"), std::string::npos) << name << "\n" << ir;
    EXPECT_EQ(ir.find("store float "), std::string::npos) << name << "\n" << ir;
    EXPECT_NE(ir.find("shufflevector"), std::string::npos) << name << "\n" << ir;
  }
}

/// Memory whose ends lie at pages that nothing may touch.
class FencedMemory {
 public:
  explicit FencedMemory(size_t bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    EXPECT_EQ(bytes % page, 0u);
    whole_ = bytes + 2 * page;
    base_ = static_cast<std::byte*>(
        mmap(nullptr, whole_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(base_ + page, bytes, PROT_READ | PROT_WRITE), 0);
    data_ = base_ + page;
    std::memset(data_, 0, bytes);
  }
  ~FencedMemory() { munmap(base_, whole_); }
  void* data() const { return data_; }

 private:
  size_t whole_ = 0;
  std::byte *base_ = nullptr, *data_ = nullptr;
};

/// Transposed with zeros before it: the element before the image is not loaded.
TEST(MoveCode, TouchesNothingBesideWhatItReads) {
  tensor::WorkloadBuilder b("padded");
  const tensor::Tensor x = b.Input("x", {32, 64});
  const tensor::Workload workload = b.Build({b.Compute("y", {64, 32}, [&](const auto& s) {
    return tensor::Select(Expr(1) <= s[0], x(s[1], s[0] - Expr(1)), tensor::FloatLiteral(0));
  })});
  target::Target target = codegen::HostTarget();
  target.cores = 1;
  const sketch::SpaceGenerator generator(workload, target);
  const auto candidate = generator.Sample(0, base::RandomStream(1));
  const auto object = codegen::CompileProgram(candidate->program, target, "kernel");
  ASSERT_TRUE(object.ok());
  const auto kernel = codegen::LoadedKernel::Load(*object);
  ASSERT_TRUE(kernel.ok());
  const FencedMemory input(32 * 64 * 4), output(32 * 64 * 4);
  void* const parameters[] = {input.data(), output.data()};
  const codegen::AlignedMemory workspace = Allocate(static_cast<size_t>(object->WorkspaceBytes(1)));
  (*kernel)(const_cast<void**>(parameters), workspace.get());
  ExpectMatchesInterpreter(candidate->program, RandomArguments(workload, 3), "padded", target);
}

TEST(MoveCode, DividesNothing) {
  for (const char* name : {"doubled", "tripled", "interleaved"}) {
    EXPECT_EQ(CodeOf(name).find("div "), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace bayloom::testing

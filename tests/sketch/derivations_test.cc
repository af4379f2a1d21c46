// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/derivations/derivations.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "tests/effort.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

target::Target TwoCores() {
  target::Target target;
  target.name = "test";
  target.cores = 2;
  target.vector_bytes = 64;
  return target;
}

constexpr const char* kEveryTile = "winograd-2x2,winograd-4x4,winograd-6x6";

/// The size of the tiles of a space of Winograd's algorithm; 0 for other spaces.
int64_t WinogradTile(const tensor::Trace& trace) {
  for (const tensor::Instruction& step : trace.instructions()) {
    if (step.kind == tensor::InstructionKind::kWinograd) return step.attributes[0];
  }
  return 0;
}

std::vector<int64_t> TilesOf(const tensor::Workload& workload, const std::string& choice = "all") {
  const SpaceGenerator generator(workload, TwoCores(), {}, *DerivationChoice::Parse(choice));
  std::vector<int64_t> tiles;
  for (const tensor::Trace& space : generator.spaces()) tiles.push_back(WinogradTile(space));
  return tiles;
}

tensor::Conv2dShape Shape(int64_t size, int64_t in, int64_t out, int64_t pad) {
  tensor::Conv2dShape shape = testing::ConvShape(size, in, out, 3, pad);
  shape.epilogue.bias = shape.epilogue.relu = true;
  return shape;
}

TEST(Derivations, SpacesComeAfterThoseOfTheRules) {
  const std::vector<int64_t> tiles =
      TilesOf(tensor::Conv2dWorkload(Shape(56, 64, 64, 1)), kEveryTile);
  EXPECT_TRUE(std::is_sorted(tiles.begin(), tiles.end()));
  EXPECT_EQ(tiles.front(), 0);
  EXPECT_EQ(std::count(tiles.begin(), tiles.end(), 2), 2);
  EXPECT_EQ(std::count(tiles.begin(), tiles.end(), 4), 2);
  EXPECT_EQ(std::count(tiles.begin(), tiles.end(), 6), 2);
}

TEST(Derivations, LargerTilesAreForImagesThatTheyFit) {
  // 14 outputs are 16 in tiles of 4, and 18 in tiles of 6.
  const std::vector<int64_t> tiles =
      TilesOf(tensor::Conv2dWorkload(Shape(14, 64, 64, 1)), kEveryTile);
  EXPECT_EQ(std::count(tiles.begin(), tiles.end(), 4), 2);
  EXPECT_EQ(std::count(tiles.begin(), tiles.end(), 6), 0);
}

TEST(Derivations, AreChosenByName) {
  const tensor::Workload workload = tensor::Conv2dWorkload(Shape(56, 64, 64, 1));
  const auto derived = [&](const std::string& choice) {
    std::vector<int64_t> tiles = TilesOf(workload, choice);
    EXPECT_EQ(tiles.front(), 0) << choice;  // the rules' own are there always
    std::erase(tiles, 0);
    return tiles;
  };
  using Tiles = std::vector<int64_t>;
  EXPECT_EQ(derived("none"), Tiles{});
  EXPECT_EQ(derived("winograd-4x4"), (Tiles{4, 4}));
  EXPECT_EQ(derived("winograd-6x6,winograd-2x2"), (Tiles{2, 2, 6, 6}));
  EXPECT_EQ(derived("all"), (Tiles{2, 2, 4, 4})) << "those that are as exact";
}

TEST(DerivationChoice, IsReadAndWritten) {
  for (const auto& [text, written] : std::vector<std::pair<std::string, std::string>>{
           {"all", "all"},
           {"none", "none"},
           {"winograd-4x4", "winograd-4x4"},
           {"winograd-6x6,winograd-2x2", "winograd-2x2,winograd-6x6"}}) {
    const Result<DerivationChoice> choice = DerivationChoice::Parse(text);
    ASSERT_TRUE(choice) << choice.error().message;
    EXPECT_EQ(choice->ToString(), written);
  }
  for (const char* text : {"", "winograd", "all,none", "winograd-2x2,", ",winograd-2x2", "NONE"}) {
    const Result<DerivationChoice> choice = DerivationChoice::Parse(text);
    ASSERT_FALSE(choice) << text;
    EXPECT_NE(choice.error().message.find("winograd-2x2"), std::string::npos);
  }
}

TEST(DerivationChoice, AllowsTracesOfWhatItContains) {
  const tensor::Workload workload = tensor::Conv2dWorkload(Shape(56, 64, 64, 1));
  const SpaceGenerator every(workload, TwoCores(), {}, *DerivationChoice::Parse(kEveryTile));
  for (const char* text : {"all", "none", "winograd-4x4", kEveryTile}) {
    const DerivationChoice choice = *DerivationChoice::Parse(text);
    for (const tensor::Trace& space : every.spaces()) {
      const int64_t tile = WinogradTile(space);
      EXPECT_EQ(choice.Allows(space),
                tile == 0 || choice.Contains(fmt::format("winograd-{0}x{0}", tile)))
          << text << " " << tile;
    }
  }
  EXPECT_FALSE(DerivationChoice().Contains("winograd-6x6"));
}

TEST(Derivations, ThereAreNoneWhereTheyCannotPay) {
  tensor::Conv2dShape strided = Shape(56, 64, 64, 1);
  strided.options.stride = {2, 2};
  for (const tensor::Workload& workload :
       {tensor::Conv2dWorkload(Shape(224, 3, 64, 1)), tensor::Conv2dWorkload(strided),
        tensor::Conv2dWorkload(testing::ConvShape(14, 64, 64, 1)),
        tensor::Conv2dWorkload(testing::ConvShape(3, 64, 64, 3)),  // one output
        tensor::MatmulWorkload(64, 64, 64)}) {
    const std::vector<int64_t> tiles = TilesOf(workload);
    EXPECT_EQ(std::count(tiles.begin(), tiles.end(), 0), std::ssize(tiles)) << workload.name;
  }
}

/// Programs lent between layers of other extents are of spaces with equal steps.
TEST(Derivations, SpacesOfOtherExtentsAreTheSame) {
  const SpaceGenerator a(tensor::Conv2dWorkload(Shape(56, 64, 64, 1)), TwoCores());
  const SpaceGenerator b(tensor::Conv2dWorkload(Shape(28, 128, 256, 1)), TwoCores());
  ASSERT_EQ(a.spaces().size(), b.spaces().size());
  for (size_t i = 0; i < a.spaces().size(); ++i) {
    EXPECT_EQ(a.spaces()[i].SpaceHash(), b.spaces()[i].SpaceHash()) << i;
  }
}

TEST(Derivations, TracesReadFromJsonAreTheSameCandidates) {
  const SpaceGenerator generator(tensor::Conv2dWorkload(Shape(14, 16, 32, 1)), TwoCores());
  for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
    const Result<Candidate> drawn = generator.Sample(space, base::RandomStream(3));
    ASSERT_TRUE(drawn) << space << ": " << drawn.error().message;
    const Result<tensor::Trace> read =
        tensor::Trace::FromJson(nlohmann::json::parse(drawn->trace.ToJson().dump()));
    ASSERT_TRUE(read);
    EXPECT_EQ(generator.SpaceOf(*read), space);
    const Result<Candidate> again = generator.Replay(space, *read, base::RandomStream(4));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->hash, drawn->hash);
  }
}

TEST(Derivations, CandidatesComputeTheConvolution) {
  constexpr int kCandidates = 12;
  std::vector<tensor::Conv2dShape> shapes = {Shape(8, 16, 16, 1), Shape(9, 16, 20, 0),
                                             Shape(7, 17, 16, 1), Shape(6, 16, 16, 1)};
  shapes[0].epilogue.residual = true;
  shapes[1].epilogue = {};
  shapes[2].batch = 2;
  shapes[2].width = 10;
  shapes[3].epilogue.residual = true;
  for (const tensor::Conv2dShape& shape : shapes) {
    const tensor::Workload workload = tensor::Conv2dWorkload(shape);
    const SpaceGenerator generator(workload, TwoCores());
    const std::vector<tensor::HostTensor> inputs = testing::RandomArguments(workload, 11);
    std::vector<tensor::HostTensor> expected = inputs;
    tensor::Interpret(tensor::Lower(workload), expected);
    int valid = 0, drawn = 0;
    for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
      if (WinogradTile(generator.spaces()[space]) == 0) continue;
      for (int seed = 0; seed < kCandidates * testing::Effort(); ++seed, ++drawn) {
        const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(seed));
        if (!candidate) continue;
        ++valid;
        SCOPED_TRACE(tensor::Print(candidate->program));
        const Status status = tensor::Validate(candidate->program);
        ASSERT_TRUE(status) << status.error().message;
        std::vector<tensor::HostTensor> actual = inputs;
        tensor::InterpretStrictly(candidate->program, actual);
        for (int64_t i = 0; i < expected.back().ElementCount(); ++i) {
          ASSERT_NEAR(actual.back().Get(i), expected.back().Get(i), 2e-4);
        }
      }
    }
    EXPECT_GT(drawn, 0);
    EXPECT_GT(valid, drawn / 2);
  }
}

}  // namespace
}  // namespace bayloom::sketch

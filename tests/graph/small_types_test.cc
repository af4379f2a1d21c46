// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/small_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/graph/text_model.h"

namespace bayloom::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kE4m3fn = 17, kE4m3fnuz = 18, kE5m2 = 19, kE5m2fnuz = 20, kUint4 = 21, kInt4 = 22,
              kE2m1 = 23, kE8m0 = 24, kInt2 = 26, kE2m3 = 27, kE3m2 = 28;
const double kInfinity = std::numeric_limits<double>::infinity();

double Decode(int type, uint32_t pattern) { return FindSmallType(type)->Decode(pattern); }

/// From the formats' specifications (OCP 8-bit and microscaling formats, and the variants without
/// minus zero).
TEST(SmallTypes, ValuesOfPatterns) {
  EXPECT_EQ(Decode(kE4m3fn, 0x7E), 448);
  EXPECT_TRUE(std::isnan(Decode(kE4m3fn, 0xFF)));
  EXPECT_EQ(Decode(kE4m3fn, 0x01), std::ldexp(1, -9));
  EXPECT_EQ(Decode(kE4m3fn, 0x88), -std::ldexp(1, -6));
  EXPECT_EQ(Decode(kE4m3fnuz, 0x7F), 240);
  EXPECT_TRUE(std::isnan(Decode(kE4m3fnuz, 0x80)));
  EXPECT_EQ(Decode(kE5m2, 0x7B), 57344);
  EXPECT_EQ(Decode(kE5m2, 0xFC), -kInfinity);
  EXPECT_TRUE(std::isnan(Decode(kE5m2, 0x7D)));
  EXPECT_EQ(Decode(kE5m2fnuz, 0x7F), 57344);
  EXPECT_EQ(Decode(kE2m1, 0x7), 6);
  EXPECT_EQ(Decode(kE2m1, 0x9), -0.5);
  EXPECT_EQ(Decode(kE8m0, 127), 1);
  EXPECT_EQ(Decode(kE8m0, 0), std::ldexp(1, -127));
  EXPECT_EQ(Decode(kE2m3, 0x1F), 7.5);
  EXPECT_EQ(Decode(kE3m2, 0x1F), 28);
  EXPECT_EQ(Decode(kInt4, 0xF), -1);
  EXPECT_EQ(Decode(kUint4, 0xF), 15);
  EXPECT_EQ(Decode(kInt2, 0x2), -2);
}

std::string Constant(int type, const std::vector<int64_t>& dims, const std::string& data) {
  return fmt::format("initializer {{ name: 'w' data_type: {} dims: [{}] {} }}", type,
                     fmt::join(dims, ", "), data);
}
std::string FloatInitializer(const std::string& name, const std::vector<int64_t>& dims,
                             const std::vector<double>& values) {
  return fmt::format("initializer {{ name: '{}' data_type: 1 dims: [{}] float_data: [{}] }}", name,
                     fmt::join(dims, ", "), fmt::join(values, ", "));
}

/// Packed with the first element in the lowest bits, in raw data and in lists.
TEST(SmallTypes, FourBitWeightsAreDequantizedByBlocks) {
  const std::string rest = FloatInitializer("s", {2, 2}, {1, 10, 100, 1000}) +
                           NodeText("DequantizeLinear", {"w", "s"}, "y",
                                    IntAttribute("block_size", 2) + IntAttribute("axis", 1)) +
                           "output { name: 'y' }";
  // 1 -2 7 | -8 3 -1, each row in blocks of 2 and 1.
  for (const char* data : {"raw_data: '\\xE1\\x87\\xF3'", "int32_data: [0xE1, 0x87, 0xF3]"}) {
    const auto y = Compute(TextModel(21, Constant(kInt4, {2, 3}, data) + rest))[0];
    EXPECT_THAT(Values(y), ElementsAre(1, -2, 70, -800, 300, -1000));
  }
}

TEST(SmallTypes, ValuesAreMovedAndConverted) {
  const auto y = Compute(TextModel(
      23, Constant(kE2m1, {4}, "raw_data: '\\x71\\x9F'") + Integers("shape", {2, 2}) +
              NodeText("Reshape", {"w", "shape"}, "r") + NodeText("Transpose", {"r"}, "t") +
              NodeText("Cast", {"t"}, "y", IntAttribute("to", kFloatType)) +
              "output { name: 'y' }"))[0];
  EXPECT_THAT(Values(y), ElementsAre(0.5, -6, 6, -0.5));
}

/// Also where a cast changes no number.
TEST(SmallTypes, ACastValueIsOfTheNewType) {
  const std::vector<std::pair<int, int>> casts = {
      {kE4m3fn, kFloatType}, {kE5m2, kFloat16Type}, {kE4m3fn, kBfloat16Type}, {kInt4, kInt8Type}};
  for (const auto& [from, to] : casts) {
    const auto y =
        Compute(TextModel(23, Constant(from, {1}, "raw_data: '\\x02'") +
                                  NodeText("Cast", {"w"}, "c", IntAttribute("to", to)) +
                                  NodeText("Add", {"c", "c"}, "s") +
                                  NodeText("Cast", {"s"}, "y", IntAttribute("to", kFloatType)) +
                                  "output { name: 'y' }"))[0];
    EXPECT_THAT(Values(y), ElementsAre(2 * Decode(from, 2))) << from << " to " << to;
  }
}

TEST(SmallTypes, ArithmeticAndOutputsAreRefused) {
  const std::string w = Constant(kInt4, {2}, "raw_data: '\\xE1'");
  EXPECT_THAT(RefusalOf(TextModel(21, w + "output { name: 'w' }")),
              HasSubstr("output 'w': element type int4 is not supported"));
  EXPECT_THAT(RefusalOf(TextModel(21, w + NodeText("Neg", {"w"}, "y") + "output { name: 'y' }")),
              HasSubstr("may not be of int4"));
  EXPECT_THAT(
      RefusalOf(TextModel(21, "input { " + Declare("x", kInt4, {2}) + " }" +
                                  NodeText("Cast", {"x"}, "y", IntAttribute("to", kFloatType)) +
                                  "output { name: 'y' }")),
      HasSubstr("input 'x': element type int4 is supported in constants only"));
}

/// The value of the type that is nearest to x; of two, the one whose pattern is even.
double Nearest(const SmallType& type, double x) {
  x = std::clamp(x, -1e9, 1e9);
  double best = 0;
  for (uint32_t pattern = 0; pattern < 1U << type.bits; ++pattern) {
    const double value = type.Decode(pattern);
    if (!std::isfinite(value)) continue;
    const double distance = std::abs(value - x), least = std::abs(best - x);
    if (distance < least || (distance == least && pattern % 2 == 0)) best = value;
  }
  return best;
}

TEST(SmallTypes, CastsRoundToTheNearestValue) {
  for (const int number : {kE4m3fn, kE4m3fnuz, kE5m2, kE5m2fnuz, kE2m1, kE2m3, kE3m2}) {
    const SmallType& type = *FindSmallType(number);
    std::vector<double> numbers = {0, 1e6, -1e6, kInfinity, -kInfinity};
    for (uint32_t pattern = 0; pattern < 1U << type.bits; ++pattern) {
      const double value = type.Decode(pattern), next = type.Decode(pattern + 1);
      if (!std::isfinite(value) || !std::isfinite(next)) continue;
      for (double part : {0.0, 0.25, 0.5, 0.75}) numbers.push_back(value + part * (next - value));
    }
    const int64_t count = static_cast<int64_t>(numbers.size());
    const auto y =
        Compute(TextModel(28, "input { " + Declare("x", kFloatType, {count}) + " }" +
                                  NodeText("Cast", {"x"}, "s", IntAttribute("to", number)) +
                                  NodeText("Cast", {"s"}, "y", IntAttribute("to", kFloatType)) +
                                  "output { name: 'y' }"),
                {Floats({count}, numbers)})[0];
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(y.Get(i), Nearest(type, numbers[i])) << type.name << " of " << numbers[i];
    }
  }
}

TEST(SmallTypes, BeyondTheLargestValueWithoutSaturation) {
  for (const int number : {kE4m3fn, kE5m2}) {
    const auto y = Compute(
        TextModel(19, "input { " + Declare("x", kFloatType, {1}) + " }" +
                          NodeText("Cast", {"x"}, "s",
                                   IntAttribute("to", number) + IntAttribute("saturate", 0)) +
                          NodeText("Cast", {"s"}, "y", IntAttribute("to", kFloatType)) +
                          "output { name: 'y' }"),
        {Floats({1}, {1e6})})[0];
    EXPECT_TRUE(number == kE5m2 ? y.Get(0) == kInfinity : std::isnan(y.Get(0)));
  }
}

/// Quantized to 4 bits: rounded to even and saturated.
TEST(SmallTypes, QuantizationSaturates) {
  const auto y = Compute(
      TextModel(
          21, "input { " + Declare("x", kFloatType, {6}) + " }" + FloatInitializer("s", {}, {2}) +
                  NodeText("QuantizeLinear", {"x", "s"}, "q", IntAttribute("output_dtype", kInt4)) +
                  NodeText("DequantizeLinear", {"q", "s"}, "y") + "output { name: 'y' }"),
      {Floats({6}, {1, 3, -5, 100, -100, 0.9})})[0];
  EXPECT_THAT(Values(y), ElementsAre(0, 4, -4, 14, -16, 0));
}

// --- Sparse initializers -----------------------------------------------------------------------

std::string Sparse(const std::string& indices) {
  return "sparse_initializer { dims: [2, 3] values { name: 'w' data_type: 1 dims: 2 float_data: "
         "[5, "
         "7] } indices { data_type: 7 " +
         indices + " } } node { op_type: 'Neg' input: 'w' output: 'y' } output { name: 'y' }";
}

TEST(SparseInitializers, BecomeDense) {
  for (const char* indices :
       {"dims: 2 int64_data: [1, 5]", "dims: [2, 2] int64_data: [0, 1, 1, 2]"}) {
    EXPECT_THAT(Values(Compute(TextModel(13, Sparse(indices)))[0]),
                ElementsAre(0, -5, 0, 0, 0, -7));
  }
}

TEST(SparseInitializers, IndicesOutOfRangeAreRefused) {
  for (const char* indices : {"dims: 2 int64_data: [1, 6]", "dims: 2 int64_data: [-1, 0]",
                              "dims: [2, 2] int64_data: [0, 3, 1, 2]", "dims: 1 int64_data: [1]",
                              "dims: 2 int64_data: [1, 1]"}) {
    EXPECT_THAT(RefusalOf(TextModel(13, Sparse(indices))), HasSubstr("initializer 'w': "));
  }
}

}  // namespace
}  // namespace bayloom::graph

#include "bayloom/cost/encoding.h"

#include <gtest/gtest.h>

namespace bayloom {
namespace {

/// A program whose rows have these multiply-adds and iterations (slogged), and their number in
/// the last column.
FeatureMatrix MakeProgram(const std::vector<std::pair<float, float>>& stores) {
  FeatureMatrix program;
  for (const auto& [mads, iterations] : stores) {
    std::vector<float> row(kFeatureColumns, 0);
    row[static_cast<int>(OpClass::kFloatMad)] = mads;
    row[kIterationsColumn] = iterations;
    row[kAutoUnrollColumn] = static_cast<float>(++program.rows);
    program.values.insert(program.values.end(), row.begin(), row.end());
  }
  return program;
}

TEST(Encoding, ARowPerStoreIsTheFeaturesThemselves) {
  const FeatureMatrix a = MakeProgram({{1, 1}, {2, 2}}), b = MakeProgram({{3, 3}}), none;
  const FeatureMatrix* programs[] = {&a, &none, &b};
  const EncodedRows encoded = Encode(programs, RowEncoding::kRowPerStore);
  EXPECT_EQ(encoded.columns, kFeatureColumns);
  EXPECT_EQ(encoded.rows, (std::vector<int>{2, 0, 1}));
  std::vector<float> expected = a.values;
  expected.insert(expected.end(), b.values.begin(), b.values.end());
  EXPECT_EQ(encoded.values, expected);
}

TEST(Encoding, ARowPerProgramHasTheMainStoreFirst) {
  // The third store computes most; of the others the second iterates most.
  const FeatureMatrix program = MakeProgram({{0, 4}, {0, 9}, {7, 6}, {0, 5}}), none;
  const FeatureMatrix* programs[] = {&program, &none};
  const EncodedRows encoded = Encode(programs, RowEncoding::kRowPerProgram);
  EXPECT_EQ(encoded.rows, (std::vector<int>{1, 0}));
  ASSERT_EQ(encoded.values.size(), static_cast<size_t>(encoded.columns));
  ASSERT_EQ(encoded.columns, 3 * kFeatureColumns + 1);
  EXPECT_EQ(encoded.values[kAutoUnrollColumn], 3);
  EXPECT_EQ(encoded.values[kFeatureColumns + kAutoUnrollColumn], 2);
  EXPECT_EQ(encoded.values[2 * kFeatureColumns + kAutoUnrollColumn], 1 + 4);
  EXPECT_EQ(encoded.values.back(), 4);
}

TEST(Encoding, WithoutFloatingPointTheMainStoreIteratesMost) {
  const FeatureMatrix program = MakeProgram({{0, 4}, {0, 9}, {0, 6}});
  const FeatureMatrix* programs[] = {&program};
  EXPECT_EQ(Encode(programs, RowEncoding::kRowPerProgram).values[kAutoUnrollColumn], 2);
}

}  // namespace
}  // namespace bayloom

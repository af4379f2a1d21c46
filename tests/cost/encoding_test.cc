// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/encoding.h"

#include <gtest/gtest.h>

namespace bayloom::cost {
namespace {

/// A program whose rows have these multiply-adds and iterations (slogged), and their number in
/// the last column.
feature::FeatureMatrix MakeProgram(const std::vector<std::pair<float, float>>& stores) {
  feature::FeatureMatrix program;
  for (const auto& [mads, iterations] : stores) {
    std::vector<float> row(feature::kFeatureColumns, 0);
    row[static_cast<int>(feature::OpClass::kFloatMad)] = mads;
    row[feature::kIterationsColumn] = iterations;
    row[feature::kAutoUnrollColumn] = static_cast<float>(++program.rows);
    program.values.insert(program.values.end(), row.begin(), row.end());
  }
  return program;
}

TEST(Encoding, ARowPerStoreIsTheFeaturesThemselves) {
  const feature::FeatureMatrix a = MakeProgram({{1, 1}, {2, 2}}), b = MakeProgram({{3, 3}}), none;
  const feature::FeatureMatrix* programs[] = {&a, &none, &b};
  const EncodedRows encoded = Encode(programs, RowEncoding::kRowPerStore);
  EXPECT_EQ(encoded.columns, feature::kFeatureColumns);
  EXPECT_EQ(encoded.rows, (std::vector<int>{2, 0, 1}));
  std::vector<float> expected = a.values;
  expected.insert(expected.end(), b.values.begin(), b.values.end());
  EXPECT_EQ(encoded.values, expected);
}

TEST(Encoding, ARowPerProgramHasTheMainStoreFirst) {
  // The third store computes most; of the others the second iterates most.
  const feature::FeatureMatrix program = MakeProgram({{0, 4}, {0, 9}, {7, 6}, {0, 5}}), none;
  const feature::FeatureMatrix* programs[] = {&program, &none};
  const EncodedRows encoded = Encode(programs, RowEncoding::kRowPerProgram);
  EXPECT_EQ(encoded.rows, (std::vector<int>{1, 0}));
  ASSERT_EQ(encoded.values.size(), static_cast<size_t>(encoded.columns));
  ASSERT_EQ(encoded.columns, 3 * feature::kFeatureColumns + 1);
  EXPECT_EQ(encoded.values[feature::kAutoUnrollColumn], 3);
  EXPECT_EQ(encoded.values[feature::kFeatureColumns + feature::kAutoUnrollColumn], 2);
  EXPECT_EQ(encoded.values[2 * feature::kFeatureColumns + feature::kAutoUnrollColumn], 1 + 4);
  EXPECT_EQ(encoded.values.back(), 4);
}

TEST(Encoding, WithoutFloatingPointTheMainStoreIteratesMost) {
  const feature::FeatureMatrix program = MakeProgram({{0, 4}, {0, 9}, {0, 6}});
  const feature::FeatureMatrix* programs[] = {&program};
  EXPECT_EQ(Encode(programs, RowEncoding::kRowPerProgram).values[feature::kAutoUnrollColumn], 2);
}

}  // namespace
}  // namespace bayloom::cost

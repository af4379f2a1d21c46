// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/encoding.h"

#include <cmath>
#include <utility>

namespace bayloom::cost {
namespace {

/// Main store, second store, sum of the others, number of stores.
constexpr int kProgramColumns = 3 * feature::kFeatureColumns + 1;

double FloatOps(std::span<const float> row) {
  const auto count = [&](feature::OpClass op) { return std::exp2(row[static_cast<int>(op)]) - 1; };
  double total = count(feature::OpClass::kFloatMad);
  for (int op = static_cast<int>(feature::OpClass::kFloatMad);
       op <= static_cast<int>(feature::OpClass::kFloatOther); ++op) {
    total += count(static_cast<feature::OpClass>(op));
  }
  return total;
}

/// How much a store matters to its program.
std::pair<double, float> Weight(std::span<const float> row) {
  return {FloatOps(row), row[feature::kIterationsColumn]};
}

/// The first of the rows that matter most, or -1.
int MainRow(const feature::FeatureMatrix& program) {
  int main = -1;
  for (int row = 0; row < program.rows; ++row) {
    if (main < 0 || Weight(program.Row(row)) > Weight(program.Row(main))) main = row;
  }
  return main;
}

/// The first of the rows with most iterations but for one, or -1.
int RowOfMostIterations(const feature::FeatureMatrix& program, int except) {
  int most = -1;
  for (int row = 0; row < program.rows; ++row) {
    if (row == except) continue;
    if (most < 0 || program.Row(row)[feature::kIterationsColumn] >
                        program.Row(most)[feature::kIterationsColumn]) {
      most = row;
    }
  }
  return most;
}

void AppendProgram(const feature::FeatureMatrix& program, std::vector<float>& values) {
  const size_t start = values.size();
  values.resize(start + kProgramColumns, 0.0f);
  const int main = MainRow(program), second = RowOfMostIterations(program, main);
  for (int row = 0; row < program.rows; ++row) {
    const int place = row == main ? 0 : row == second ? 1 : 2;
    float* out = values.data() + start + place * feature::kFeatureColumns;
    const std::span<const float> features = program.Row(row);
    for (int column = 0; column < feature::kFeatureColumns; ++column)
      out[column] += features[column];
  }
  values.back() = static_cast<float>(program.rows);
}

}  // namespace

EncodedRows Encode(std::span<const feature::FeatureMatrix* const> programs, RowEncoding encoding) {
  EncodedRows encoded;
  encoded.columns =
      encoding == RowEncoding::kRowPerStore ? feature::kFeatureColumns : kProgramColumns;
  for (const feature::FeatureMatrix* program : programs) {
    if (encoding == RowEncoding::kRowPerStore) {
      encoded.rows.push_back(program->rows);
      encoded.values.insert(encoded.values.end(), program->values.begin(), program->values.end());
    } else {
      encoded.rows.push_back(program->rows > 0 ? 1 : 0);
      if (program->rows > 0) AppendProgram(*program, encoded.values);
    }
  }
  return encoded;
}

}  // namespace bayloom::cost

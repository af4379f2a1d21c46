// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/bayes/decision_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace bayloom::strategy {
namespace {

constexpr int kLocationColumns = 3;
/// Loops around a first reader, about: what depths are divided by.
constexpr double kDeep = 8;

int ColumnsOf(const tensor::Instruction& instruction) {
  switch (instruction.kind) {
    case tensor::InstructionKind::kSamplePerfectTile:
      return static_cast<int>(instruction.attributes[0]);
    case tensor::InstructionKind::kSampleComputeLocation:
      return kLocationColumns;
    default:
      return 1;
  }
}

void WriteTile(const std::vector<int64_t>& factors, double* columns) {
  const int64_t extent =
      std::accumulate(factors.begin(), factors.end(), int64_t{1}, std::multiplies<>());
  const double unit = extent > 1 ? std::log(static_cast<double>(extent)) * M_SQRT2 : 1;
  for (size_t i = 0; i < factors.size(); ++i) {
    columns[i] = std::log(static_cast<double>(factors[i])) / unit;
  }
}

void WriteLocation(int64_t location, double* columns) {
  columns[0] = location == tensor::kLocationInline ? M_SQRT1_2 : 0;
  columns[1] = location == tensor::kLocationRoot ? M_SQRT1_2 : 0;
  columns[2] = location >= 0 ? std::min(1.0, static_cast<double>(location + 1) / kDeep) : 0;
}

void Write(const tensor::Instruction& instruction, const tensor::Decision& decision,
           double* columns) {
  switch (instruction.kind) {
    case tensor::InstructionKind::kSamplePerfectTile:
      return WriteTile(decision.values, columns);
    case tensor::InstructionKind::kSampleComputeLocation:
      return WriteLocation(decision.values[0], columns);
    default: {
      const double last =
          static_cast<double>(std::max<size_t>(2, instruction.attributes.size()) - 1);
      columns[0] = static_cast<double>(decision.values[0]) / last;
    }
  }
}

}  // namespace

DecisionRows::DecisionRows(const sketch::SpaceGenerator& space) {
  if (space.spaces().size() > 1) AddGroup(static_cast<int>(space.spaces().size()));
  std::map<std::string, int> columns;
  for (const tensor::Trace& trace : space.spaces()) AddSpace(trace, columns);
}

void DecisionRows::AddSpace(const tensor::Trace& trace, std::map<std::string, int>& columns) {
  std::vector<Place>& places = places_.emplace_back();
  std::map<std::string, int> met;
  for (int step : trace.SamplingSteps()) {
    const tensor::Instruction& instruction = trace.instructions()[step];
    const std::string kind =
        fmt::format("{} {}", tensor::ToString(instruction.kind), ColumnsOf(instruction));
    const auto [column, is_new] = columns.emplace(fmt::format("{} {}", kind, met[kind]++), 0);
    if (is_new) column->second = AddGroup(ColumnsOf(instruction));
    places.push_back({step, column->second});
  }
}

int DecisionRows::AddGroup(int columns) {
  const int first = this->columns();
  group_of_column_.insert(group_of_column_.end(), static_cast<size_t>(columns), groups_++);
  return first;
}

model::RowMatrix DecisionRows::operator()(std::span<const CandidatePtr> programs) const {
  model::RowMatrix rows = model::RowMatrix::Zero(std::ssize(programs), columns());
  for (size_t i = 0; i < programs.size(); ++i) {
    const sketch::Candidate& program = *programs[i];
    double* const row = rows.row(static_cast<Eigen::Index>(i)).data();
    if (places_.size() > 1) row[program.space] = M_SQRT1_2;
    for (const Place& place : places_[static_cast<size_t>(program.space)]) {
      Write(program.trace.instructions()[place.step], *program.trace.decisions()[place.step],
            row + place.column);
    }
  }
  return rows;
}

}  // namespace bayloom::strategy

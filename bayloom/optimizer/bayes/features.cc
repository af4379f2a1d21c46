// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/features.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace bayloom::optimizer {
namespace {

/// Nothing in a machine cares for larger powers than 2^12.
constexpr int kMaxHalvings = 12;
/// Below this, halvings say no more than which numbers are even, and 1 would look like 3.
constexpr double kMinMagnitude = 4;
/// So many ranks of an integer range show what there is to see.
constexpr int64_t kRanks = 4096;
/// So many configurations show between what ends a quantity lies.
constexpr int kRangeDraws = 512;
/// Quantities that span this factor count by their logarithm.
constexpr double kLogarithmicSpan = 4;

int Halvings(double number) {
  const auto magnitude = static_cast<uint64_t>(std::abs(number));
  return magnitude == 0 ? kMaxHalvings : std::min(kMaxHalvings, std::countr_zero(magnitude));
}

/// 0 unless the parameter has whole numbers that differ in how often they can be halved, other
/// than by being the powers of two, whose logarithm says it already, or by being small counts.
int MostHalvings(const space::Parameter& parameter) {
  const bool has_numbers = parameter.kind() == space::ParameterKind::kInteger ||
                           parameter.kind() == space::ParameterKind::kOrdinal;
  if (!has_numbers || parameter.Cardinality() < 3) return 0;
  const int64_t ranks = std::min(parameter.Cardinality(), kRanks);
  int least = kMaxHalvings, most = 0;
  double largest = 0;
  bool only_powers = true;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const space::Value value = parameter.ValueAt(static_cast<double>(rank));
    if (!std::holds_alternative<int64_t>(value)) return 0;
    const auto number = static_cast<double>(std::get<int64_t>(value));
    least = std::min(least, Halvings(number));
    most = std::max(most, Halvings(number));
    largest = std::max(largest, std::abs(number));
    only_powers = only_powers && number > 0 && std::has_single_bit(static_cast<uint64_t>(number));
  }
  return only_powers || least == most || largest < kMinMagnitude ? 0 : most;
}

}  // namespace

double Features::Range::operator()(double value) const {
  return ((is_log ? std::log(value) : value) - least) / (most - least);
}

Features::Features(std::shared_ptr<const space::Space> space, FeatureOptions options)
    : space_(std::move(space)), encoding_(space_) {
  int group = 0;
  for (int i = 0; i < space_->size(); ++i) {
    first_.push_back(columns());
    const bool varies =
        space_->parameter(i).Cardinality() != 1 || space_->conditions().IsConditional(i);
    if (varies) AddParameter(i, group, options);
  }
  first_.push_back(columns());
  if (options.quantities) AddQuantities(group);
  if (sources_.empty()) Add(EncodedColumn{0}, 0);  // a space of a single configuration
}

void Features::Add(Source source, int group) {
  sources_.push_back(source);
  groups_.push_back(group);
}

void Features::AddParameter(int i, int& group, FeatureOptions options) {
  const int first_column = encoding_.FirstColumn(i);
  const space::Parameter& parameter = space_->parameter(i);
  const bool is_number = parameter.kind() == space::ParameterKind::kReal ||
                         parameter.kind() == space::ParameterKind::kInteger ||
                         parameter.kind() == space::ParameterKind::kOrdinal;
  if (is_number && !options.logarithms && !space_->conditions().IsConditional(i)) {
    const double last = static_cast<double>(parameter.Cardinality() - 1);
    const bool is_real = parameter.Cardinality() == space::kUncountable;
    if (is_real) {
      Add(EncodedColumn{first_column}, group);
    } else {
      Add(ParameterValue{i, {parameter.NumberAt(0), parameter.NumberAt(last)}}, group);
    }
  } else {
    for (int c = first_column; c < encoding_.FirstColumn(i + 1); ++c) Add(EncodedColumn{c}, group);
  }
  ++group;
  const int most = options.halvings ? MostHalvings(parameter) : 0;
  if (most > 0) Add(ParameterHalvings{i, most}, group++);
}

void Features::AddQuantities(int& group) {
  const std::vector<space::Constraint>& quantities = space_->quantities();
  if (quantities.empty()) return;
  base::RandomStream random(0);
  std::vector<space::Configuration> drawn;
  for (int draw = 0; draw < kRangeDraws; ++draw) {
    if (std::optional<space::Configuration> c = space_->Sample(random))
      drawn.push_back(*std::move(c));
  }
  for (int q = 0; q < std::ssize(quantities); ++q) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const space::Configuration& c : drawn) {
      const double value = quantities[q].Compute(c.coordinates);
      least = std::min(least, value);
      most = std::max(most, value);
    }
    if (!std::isfinite(most - least) || !(least < most)) continue;
    const bool is_log = least > 0 && most >= kLogarithmicSpan * least;
    if (is_log) {
      least = std::log(least);
      most = std::log(most);
    }
    Add(Quantity{q, {least, most, is_log}}, group++);
  }
}

double Features::Read(const Source& source, const space::Configuration& configuration,
                      std::span<const double> embedding) const {
  const auto number = [&](int parameter) {
    return space_->parameter(parameter).NumberAt(configuration.coordinates[parameter]);
  };
  if (const auto* encoded = std::get_if<EncodedColumn>(&source)) return embedding[encoded->column];
  if (const auto* value = std::get_if<ParameterValue>(&source)) {
    return value->range(number(value->parameter));
  }
  if (const auto* halvings = std::get_if<ParameterHalvings>(&source)) {
    return static_cast<double>(Halvings(number(halvings->parameter))) / halvings->most;
  }
  const auto& quantity = std::get<Quantity>(source);
  const double value = space_->quantities()[quantity.index].Compute(configuration.coordinates);
  // A draw in a thousand may lie outside of the range, but what has no number counts as its start.
  const double position = quantity.range(value);
  return std::isfinite(position) ? position : 0;
}

int Features::ParameterOf(const Source& source) const {
  if (const auto* encoded = std::get_if<EncodedColumn>(&source)) {
    return encoding_.group_of_column()[static_cast<size_t>(encoded->column)];
  }
  if (const auto* value = std::get_if<ParameterValue>(&source)) return value->parameter;
  if (const auto* halvings = std::get_if<ParameterHalvings>(&source)) return halvings->parameter;
  return -1;
}

std::vector<std::string> Features::ColumnNames() const {
  std::vector<std::string> names;
  for (size_t c = 0; c < sources_.size(); ++c) {
    const Source& source = sources_[c];
    if (const auto* quantity = std::get_if<Quantity>(&source)) {
      names.push_back("quantity " + std::to_string(quantity->index));
      continue;
    }
    const std::string& parameter = space_->parameter(ParameterOf(source)).name();
    if (std::holds_alternative<ParameterHalvings>(source)) {
      names.push_back(parameter + " halved");
      continue;
    }
    size_t first = c;  // the columns of a parameter are neighbours
    while (first > 0 && groups_[first - 1] == groups_[c]) --first;
    names.push_back(parameter + "[" + std::to_string(c - first) + "]");
  }
  return names;
}

std::vector<int> Features::parameter_of_group() const {
  std::vector<int> parameters(static_cast<size_t>(groups_.back()) + 1);
  for (size_t c = 0; c < sources_.size(); ++c) {
    parameters[static_cast<size_t>(groups_[c])] = ParameterOf(sources_[c]);
  }
  return parameters;
}

model::RowMatrix Features::operator()(std::span<const space::Configuration> configurations) const {
  model::RowMatrix rows(std::ssize(configurations), columns());
  std::vector<double> embedding(static_cast<size_t>(encoding_.columns()));
  std::vector<int> changed;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const space::Configuration& configuration = configurations[static_cast<size_t>(i)];
    const auto read = [&](int first, int end) {
      for (int column = first; column < end; ++column) {
        rows(i, column) = Read(sources_[static_cast<size_t>(column)], configuration, embedding);
      }
    };
    if (i == 0) {
      encoding_.Encode(configuration, embedding);
      read(0, columns());
      continue;
    }
    rows.row(i) = rows.row(i - 1);
    encoding_.Change(configurations[static_cast<size_t>(i) - 1], configuration, embedding, changed);
    for (int p : changed) read(first_[static_cast<size_t>(p)], first_[static_cast<size_t>(p) + 1]);
    read(first_.back(), columns());
  }
  return rows;
}

}  // namespace bayloom::optimizer

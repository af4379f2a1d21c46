// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/encoding.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace bayloom::space {
namespace {

/// The middle of a number's range; of other kinds, the mean of the values (or of many, evenly
/// spaced), none of which is farther away than 1, the distance of the two farthest apart.
std::vector<double> CentreOf(const Parameter& parameter) {
  constexpr int64_t kPoints = 1024;
  const auto size = static_cast<size_t>(parameter.EmbeddingSize());
  if (size == 1) return {0.5};
  std::vector<double> centre(size), point(size);
  const int64_t values = parameter.Cardinality();
  const int64_t count = std::min(values, kPoints);
  for (int64_t i = 0; i < count; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(count);
    parameter.Embed(std::floor(place * static_cast<double>(values)), point);
    for (size_t k = 0; k < size; ++k) centre[k] += point[k] / static_cast<double>(count);
  }
  return centre;
}

}  // namespace

Encoding::Encoding(std::shared_ptr<const Space> space) : space_(std::move(space)) {
  for (int i = 0; i < space_->size(); ++i) {
    first_.push_back(columns());
    const bool is_conditional = space_->conditions().IsConditional(i);
    groups_.insert(groups_.end(), space_->parameter(i).EmbeddingSize() + (is_conditional ? 1 : 0),
                   i);
    centres_.push_back(is_conditional ? CentreOf(space_->parameter(i)) : std::vector<double>());
  }
  first_.push_back(columns());
}

void Encoding::Encode(const Configuration& configuration, std::span<double> row) const {
  for (int i = 0; i < space_->size(); ++i) WriteActive(i, configuration, row);
  for (int i : space_->conditions().InactiveOf(configuration.coordinates)) WriteInactive(i, row);
}

void Encoding::Change(const Configuration& from, const Configuration& to, std::span<double> row,
                      std::vector<int>& written) const {
  const Conditions& conditions = space_->conditions();
  written.clear();
  bool activity_changes = false;
  for (int i = 0; i < space_->size(); ++i) {
    if (from.coordinates[i] == to.coordinates[i]) continue;
    written.push_back(i);
    activity_changes = activity_changes || conditions.IsGoverning(i);
  }
  if (activity_changes) {
    std::erase_if(written, [&](int i) { return conditions.IsConditional(i); });
    std::ranges::copy(conditions.parameters(), std::back_inserter(written));
  }
  for (int i : written) WriteActive(i, to, row);
  if (activity_changes) {
    for (int i : conditions.InactiveOf(to.coordinates)) WriteInactive(i, row);
  } else {
    for (int i : written) {
      if (!conditions.IsActive(i, to.coordinates)) WriteInactive(i, row);
    }
  }
}

void Encoding::WriteActive(int i, const Configuration& configuration, std::span<double> row) const {
  const Parameter& parameter = space_->parameter(i);
  const auto size = static_cast<size_t>(parameter.EmbeddingSize());
  const std::span<double> point = row.subspan(static_cast<size_t>(FirstColumn(i)), size);
  parameter.Embed(configuration.coordinates[i], point);
  if (centres_[i].empty()) return;
  double squares = 0;
  for (size_t k = 0; k < size; ++k) squares += std::pow(point[k] - centres_[i][k], 2);
  row[static_cast<size_t>(FirstColumn(i)) + size] = std::sqrt(std::max(0.0, 1 - squares));
}

void Encoding::WriteInactive(int i, std::span<double> row) const {
  std::ranges::copy(centres_[i], row.begin() + FirstColumn(i));
  row[static_cast<size_t>(FirstColumn(i + 1)) - 1] = 0;
}

}  // namespace bayloom::space

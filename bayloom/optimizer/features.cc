#include "bayloom/optimizer/features.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace bayloom {
namespace {

/// Nothing in a machine cares for larger powers than 2^12.
constexpr int kMostHalvings = 12;
/// So many ranks of an integer range show what there is to see.
constexpr int64_t kRanks = 4096;

int Halvings(double number) {
  const auto magnitude = static_cast<uint64_t>(std::abs(number));
  return magnitude == 0 ? kMostHalvings : std::min(kMostHalvings, std::countr_zero(magnitude));
}

/// 0 unless the parameter has whole numbers that differ in how often they can be halved, other
/// than by being the powers of two, whose logarithm says it already.
int MostHalvings(const Parameter& parameter) {
  const bool has_numbers =
      parameter.kind() == ParameterKind::kInteger || parameter.kind() == ParameterKind::kOrdinal;
  if (!has_numbers || parameter.Cardinality() < 3) return 0;
  const int64_t ranks = std::min(parameter.Cardinality(), kRanks);
  int least = kMostHalvings, most = 0;
  bool only_powers = true;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const Value value = parameter.ValueAt(static_cast<double>(rank));
    if (!std::holds_alternative<int64_t>(value)) return 0;
    const auto number = static_cast<double>(std::get<int64_t>(value));
    least = std::min(least, Halvings(number));
    most = std::max(most, Halvings(number));
    only_powers = only_powers && number > 0 && std::has_single_bit(static_cast<uint64_t>(number));
  }
  return only_powers || least == most ? 0 : most;
}

}  // namespace

Features::Features(std::shared_ptr<const Space> space)
    : space_(std::move(space)), encoding_(space_) {
  int group = 0;
  int column = 0;
  for (int i = 0; i < space_->size(); ++i) {
    const Parameter& parameter = space_->parameter(i);
    const int end = column + parameter.EmbeddingSize();
    if (parameter.Cardinality() == 1) {
      column = end;
      continue;
    }
    for (; column < end; ++column) {
      sources_.push_back({.column = column});
      groups_.push_back(group);
    }
    ++group;
    if (const int most = MostHalvings(parameter); most > 0) {
      sources_.push_back({.parameter = i, .most_halvings = static_cast<double>(most)});
      groups_.push_back(group++);
    }
  }
  if (sources_.empty()) {  // a space of a single configuration
    sources_.push_back({.column = 0});
    groups_.push_back(0);
  }
}

RowMatrix Features::operator()(std::span<const Configuration> configurations) const {
  RowMatrix rows(std::ssize(configurations), columns());
  std::vector<double> embedding(static_cast<size_t>(encoding_.columns()));
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const Configuration& configuration = configurations[static_cast<size_t>(i)];
    encoding_.Encode(configuration, embedding);
    for (int column = 0; column < columns(); ++column) {
      const Source& source = sources_[static_cast<size_t>(column)];
      if (source.column >= 0) {
        rows(i, column) = embedding[static_cast<size_t>(source.column)];
      } else {
        const double number = space_->parameter(source.parameter)
                                  .NumberAt(configuration.coordinates[source.parameter]);
        rows(i, column) = Halvings(number) / source.most_halvings;
      }
    }
  }
  return rows;
}

}  // namespace bayloom

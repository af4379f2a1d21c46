// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/density_model.h"

#include <fmt/format.h>
#include <math.h>  // lgamma_r, which unlike std::lgamma writes no global variable

#include <algorithm>
#include <cmath>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/sparse/optimization.h"
#include "bayloom/mapspace/sparse/whole_count.h"

namespace bayloom::mapspace {
namespace {

/// More occupancies than these are represented by every so many of them.
constexpr int64_t kMaxPoints = 48;
/// Standard deviations around the mean beyond which occupancies do not count.
constexpr double kReach = 7;

double LogFactorial(int64_t n) {
  int sign = 0;
  return lgamma_r(static_cast<double>(n) + 1, &sign);
}

double LogChoose(int64_t n, int64_t k) {
  return LogFactorial(n) - LogFactorial(k) - LogFactorial(n - k);
}

/// That `n` words drawn of `words`, `nonzeros` of which are not 0, hold `k` of these.
double Hypergeometric(int64_t words, int64_t nonzeros, int64_t n, int64_t k) {
  if (k < 0 || k > n || k > nonzeros || n - k > words - nonzeros) return 0;
  if (k == 0 && std::min(n, nonzeros) <= 16) {
    // A short product, exact to rounding: the most frequent question.
    const int64_t few = std::min(n, nonzeros), many = std::max(n, nonzeros);
    double empty = 1;
    for (int64_t i = 0; i < few; ++i) {
      empty *= static_cast<double>(words - many - i) / static_cast<double>(words - i);
    }
    return empty;
  }
  return std::exp(LogChoose(nonzeros, k) + LogChoose(words - nonzeros, n - k) -
                  LogChoose(words, n));
}

/// A number of words that should be whole but for rounding.
double Snap(double value) {
  const double whole = std::round(value);
  return std::abs(value - whole) < 1e-9 * std::max(1.0, whole) ? whole : value;
}

/// The nonzeros of a tensor with places.
std::shared_ptr<const Nonzeros> NonzerosOf(const DataSpace& tensor, const Extents& bounds) {
  const Density& density = tensor.density;
  const std::vector<int64_t> lengths = tensor.AxisLengths(bounds);
  if (density.kind == Density::Kind::kBanded) {
    return std::make_shared<const Nonzeros>(BandOf(lengths, density.band_width));
  }
  if (density.nonzeros != nullptr) return density.nonzeros;
  auto nonzeros = std::make_shared<const Nonzeros>(ReadNonzeros(density.file, lengths));
  if (density.digest != 0 && DigestOf(*nonzeros) != density.digest) {
    throw InputError(
        fmt::format("{}: other words are not zero than when this was written", density.file));
  }
  return nonzeros;
}

}  // namespace

void ReadRecordedNonzeros(Problem& problem) {
  for (DataSpace& tensor : problem.tensors) {
    if (tensor.density.kind != Density::Kind::kRecorded) continue;
    tensor.density.nonzeros = NonzerosOf(tensor, problem.Whole());
    tensor.density.digest = DigestOf(*tensor.density.nonzeros);
  }
}

DensityModel::DensityModel(const Density& density, int64_t tensor_words)
    : density_(density),
      words_(std::max(density.whole_words, tensor_words)),
      nonzeros_(
          static_cast<int64_t>(std::ceil(Snap(density.fraction * static_cast<double>(words_))))) {}

DensityModel::DensityModel(const DataSpace& tensor, const Extents& bounds)
    : DensityModel(tensor.density, tensor.BoxWords(bounds)) {
  if (!tensor.density.HasPlaces()) return;
  pattern_ = std::make_shared<const NonzeroPattern>(tensor, bounds, NonzerosOf(tensor, bounds));
  words_ = pattern_->words();
  nonzeros_ = pattern_->nonzeros();
}

DensityModel DensityModel::Given(int64_t box_words, int64_t nonzeros) const {
  Density density = density_;
  // Inside of a box smaller than a block nothing is known of where the nonzeros are.
  if (density.kind == Density::Kind::kBlocked && box_words < density.block_words) {
    density.kind = Density::Kind::kHypergeometric;
  }
  density.fraction = static_cast<double>(nonzeros) / static_cast<double>(box_words);
  return {density, box_words, nonzeros};
}

double DensityModel::Probability(const TensorTile& tile, int64_t nonzeros) const {
  if (pattern_ != nullptr) {
    const auto occupancies = pattern_->Occupancies(tile.extents);
    const auto found = std::ranges::find(occupancies->values, static_cast<double>(nonzeros),
                                         &std::pair<double, double>::first);
    return found == occupancies->values.end() ? 0 : found->second;
  }
  const int64_t n = Clamp(tile.words);
  switch (density_.kind) {
    case Density::Kind::kDense:
      return nonzeros == (nonzeros_ == 0 ? 0 : n) ? 1 : 0;
    case Density::Kind::kFixedStructured: {
      const double exact = Snap(density_.fraction * static_cast<double>(n));
      const double above = exact - std::floor(exact);
      if (static_cast<double>(nonzeros) == std::floor(exact)) return 1 - above;
      return static_cast<double>(nonzeros) == std::ceil(exact) ? above : 0;
    }
    case Density::Kind::kBlocked: {
      const int64_t whole = n / density_.block_words * density_.block_nonzeros;
      return Hypergeometric(density_.block_words, density_.block_nonzeros, n % density_.block_words,
                            nonzeros - whole);
    }
    case Density::Kind::kHypergeometric:
      return Hypergeometric(words_, nonzeros_, n, nonzeros);
    case Density::Kind::kBanded:
    case Density::Kind::kRecorded:
      break;  // these have a pattern
  }
  return 0;
}

double DensityModel::ExpectedOccupancy(const TensorTile& tile) const {
  if (pattern_ != nullptr) return pattern_->Occupancies(tile.extents)->mean;
  const auto n = static_cast<double>(Clamp(tile.words));
  if (density_.kind == Density::Kind::kHypergeometric) {
    return n * static_cast<double>(nonzeros_) / static_cast<double>(words_);
  }
  return n * density_.fraction;
}

int64_t DensityModel::MinOccupancy(const TensorTile& tile) const {
  if (pattern_ != nullptr) {
    return static_cast<int64_t>(pattern_->Occupancies(tile.extents)->values.front().first);
  }
  const int64_t n = Clamp(tile.words);
  switch (density_.kind) {
    case Density::Kind::kDense:
      return nonzeros_ == 0 ? 0 : n;
    case Density::Kind::kFixedStructured:
      return static_cast<int64_t>(std::floor(Snap(density_.fraction * static_cast<double>(n))));
    case Density::Kind::kBlocked: {
      const int64_t rest = n % density_.block_words;
      const int64_t zeros = density_.block_words - density_.block_nonzeros;
      return n / density_.block_words * density_.block_nonzeros +
             std::max<int64_t>(0, rest - zeros);
    }
    case Density::Kind::kHypergeometric:
      return std::max<int64_t>(0, n - (words_ - nonzeros_));
    case Density::Kind::kBanded:
    case Density::Kind::kRecorded:
      break;
  }
  return 0;
}

int64_t DensityModel::MaxOccupancy(const TensorTile& tile) const {
  if (pattern_ != nullptr) {
    return static_cast<int64_t>(pattern_->Occupancies(tile.extents)->values.back().first);
  }
  const int64_t n = Clamp(tile.words);
  switch (density_.kind) {
    case Density::Kind::kDense:
      return nonzeros_ == 0 ? 0 : n;
    case Density::Kind::kFixedStructured:
      return static_cast<int64_t>(std::ceil(Snap(density_.fraction * static_cast<double>(n))));
    case Density::Kind::kBlocked:
      return n / density_.block_words * density_.block_nonzeros +
             std::min(density_.block_nonzeros, n % density_.block_words);
    case Density::Kind::kHypergeometric:
      return std::min(n, nonzeros_);
    case Density::Kind::kBanded:
    case Density::Kind::kRecorded:
      break;
  }
  return 0;
}

std::vector<OccupancyPoint> DensityModel::Occupancies(const TensorTile& tile) const {
  std::vector<OccupancyPoint> points;
  if (pattern_ != nullptr) {
    for (const auto& [occupancy, share] : pattern_->Occupancies(tile.extents)->values) {
      points.push_back({static_cast<int64_t>(occupancy), share});
    }
    return points;
  }
  const int64_t n = Clamp(tile.words);
  int64_t low = MinOccupancy(n), high = MaxOccupancy(n);
  if (density_.kind == Density::Kind::kHypergeometric && high - low >= kMaxPoints) {
    const double mean = ExpectedOccupancy(n), p = mean / static_cast<double>(n);
    const double left = static_cast<double>(words_ - n) / static_cast<double>(words_ - 1);
    const double reach = kReach * std::sqrt(static_cast<double>(n) * p * (1 - p) * left);
    low = std::max(low, static_cast<int64_t>(mean - reach) - 1);
    high = std::min(high, static_cast<int64_t>(mean + reach) + 1);
  }
  const int64_t step = (high - low) / kMaxPoints + 1;
  double total = 0;
  for (int64_t k = low; k <= high; k += step) {
    // The middle of a stride stands for it; tiles without nonzeros stand for themselves.
    const int64_t middle = k == 0 ? 0 : std::min(high, k + (step - 1) / 2);
    points.push_back({middle, Probability(n, middle)});
    total += points.back().probability;
  }
  std::erase_if(points, [](const OccupancyPoint& point) { return point.probability == 0; });
  for (OccupancyPoint& point : points) point.probability /= total;
  return points;
}

int64_t DensityModel::Quantile(const TensorTile& tile, double probability) const {
  if (probability >= 1) return MaxOccupancy(tile);
  double total = 0;
  for (const OccupancyPoint& point : Occupancies(tile)) {
    total += point.probability;
    if (total >= probability) return point.occupancy;
  }
  return MaxOccupancy(tile);
}

int64_t DensityModel::OccupancyFor(const TensorTile& tile, double fit_probability) const {
  if (fit_probability == kFitsExpected) return RoundedUp(ExpectedOccupancy(tile));
  return Quantile(tile, fit_probability);
}

}  // namespace bayloom::mapspace

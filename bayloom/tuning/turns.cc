// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/turns.h"

#include <algorithm>
#include <cmath>

#include "bayloom/measure/timing.h"

namespace bayloom::tuning {
namespace {

/// Rounds before which nothing is dropped.
/// Deviations of a median that make a difference clear. Many programs are looked at many times.
constexpr double kClear = 3;
/// A deviation that few rounds tell may be much too small by luck: by how much more a difference
/// has to be then, divided by the rounds of all tasks.
constexpr double kDistrust = 6;
/// No clock and no machine is so quiet that less than this is clear of one round.
constexpr double kMinNoise = 0.005;

double MedianOf(const std::vector<double>& values) { return measure::Quantile(values, 0.5); }

/// The standard deviation of normal values with this median absolute deviation.
double RobustDeviation(const std::vector<double>& values) {
  const double median = MedianOf(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - median));
  return 1.4826 * MedianOf(distances);
}

/// The standard error of the median of so many normal values.
double ErrorOfMedian(double deviation, size_t count) {
  return 1.2533 * deviation / std::sqrt(static_cast<double>(count));
}

}  // namespace

Turns::Turns(int programs) : seconds_(programs), is_in_(programs, true) {}

void Turns::AddRound(std::span<const double> seconds) {
  for (size_t i = 0; i < seconds_.size(); ++i) {
    if (is_in_[i]) seconds_[i].push_back(seconds[i]);
  }
}

std::vector<double> Turns::LogRatios(int a, int b) const {
  std::vector<double> logs;
  for (size_t i = 0; i < std::min(seconds_[a].size(), seconds_[b].size()); ++i) {
    logs.push_back(std::log(seconds_[a][i] / seconds_[b][i]));
  }
  return logs;
}

double Turns::Noise() const {
  std::vector<double> deviations;
  const int fastest = Fastest();
  for (int i = 0; i < programs(); ++i) {
    const std::vector<double> logs = LogRatios(i, fastest);
    if (i != fastest && logs.size() >= size_t{kMinRounds})
      deviations.push_back(RobustDeviation(logs));
  }
  return deviations.empty() ? 0 : MedianOf(deviations);
}

void Turns::Drop(double noise, int tasks) {
  const int fastest = Fastest();
  for (int i = 0; i < programs(); ++i) {
    if (i == fastest || !is_in_[i]) continue;
    const std::vector<double> logs = LogRatios(i, fastest);
    if (logs.size() < size_t{kMinRounds}) continue;
    const double deviation = std::max({kMinNoise, noise, RobustDeviation(logs)});
    const double rounds = static_cast<double>(logs.size() - 1) * std::max(1, tasks);
    const double clear = kClear * (1 + kDistrust / rounds);
    if (MedianOf(logs) > clear * ErrorOfMedian(deviation, logs.size())) is_in_[i] = false;
  }
}

int Turns::CountIn() const { return static_cast<int>(std::ranges::count(is_in_, true)); }

int Turns::Fastest() const {
  int fastest = -1;
  double least = 0;
  for (int i = 0; i < programs(); ++i) {
    if (!is_in_[i]) continue;
    const double median = seconds_[i].empty() ? 0 : MedianOf(seconds_[i]);
    if (fastest >= 0 && median >= least) continue;
    fastest = i;
    least = median;
  }
  return fastest;
}

int Turns::Chosen() const { return is_in_[0] ? 0 : Fastest(); }

}  // namespace bayloom::tuning

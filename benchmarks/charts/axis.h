// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <limits>
#include <string>
#include <vector>

namespace bayloom::charts {

/// One dimension of a plot: values to pixels. Any finite values will do: of any size, equal, or
/// apart in their last bits only.
class Axis {
 public:
  Axis(bool logarithmic, double first_pixel, double last_pixel)
      : logarithmic_(logarithmic), first_pixel_(first_pixel), last_pixel_(last_pixel) {}

  /// Whether the value has a place on it.
  bool Shows(double value) const;
  void Include(double value);
  /// Completes the range: never empty, and from 0 on where that costs little room.
  void Finish();

  double Pixel(double value) const;
  std::vector<double> Ticks(int most) const;

 private:
  /// Of more range and precision than the values have.
  long double Scale(double value) const;

  bool logarithmic_;
  double first_pixel_, last_pixel_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

/// The numbers with as many digits as tell them apart, six at least.
std::vector<std::string> TickLabels(const std::vector<double>& ticks);

}  // namespace bayloom::charts

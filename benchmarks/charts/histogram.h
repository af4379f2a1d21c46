// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

namespace bayloom::charts {

/// Shares of values by interval, of several samples side by side, written as one self-contained
/// SVG. Values lie in [low, high]; those outside count to the first or last interval, NaN to
/// none.
struct Histogram {
  struct Series {
    std::string name;
    std::vector<double> values;
  };

  std::string title;
  std::string x_label;
  double low = 0, high = 1;
  int bins = 10;
  std::vector<Series> series;
  int width = 720;  ///< pixels
  int height = 400;

  /// The share of each interval among the series' values; all 0 where there are none.
  std::vector<double> Shares(const Series& series) const;
  std::string ToSvg() const;
};

}  // namespace bayloom::charts

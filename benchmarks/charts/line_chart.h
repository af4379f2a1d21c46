// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bayloom::charts {

/// A chart of curves over common axes, written as one self-contained SVG.
struct LineChart {
  struct Series {
    std::string name;
    /// By ascending x; points that are not finite (or not positive on a logarithmic axis) are
    /// left out.
    std::vector<std::pair<double, double>> points;
    /// The value holds until the next point instead of approaching it: best-so-far curves.
    bool steps = false;
  };

  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
  std::vector<Series> series;
  int width = 860;  ///< pixels, legend included
  int height = 460;

  std::string ToSvg() const;
};

/// Round values (1, 2 or 5 times a power of ten) that divide [low, high] into about `most`
/// parts; fewer kinds of them on a logarithmic axis that spans much. Ascending, at most `most` + 2,
/// and at least 2 unless low = high. None where the bounds are not finite or not in order.
std::vector<double> AxisTicks(double low, double high, bool logarithmic, int most);

}  // namespace bayloom::charts

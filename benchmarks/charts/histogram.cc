// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/charts/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/charts/line_chart.h"
#include "benchmarks/charts/svg_layout.h"
#include "benchmarks/charts/svg_text.h"

namespace bayloom::charts {

std::vector<double> Histogram::Shares(const Series& one) const {
  std::vector<double> shares(bins, 0);
  for (const double value : one.values) {
    const double place = low < high ? (value - low) / (high - low) * bins : 0;
    if (std::isnan(place)) continue;
    const auto bin = static_cast<size_t>(std::clamp(place, 0.0, bins - 1.0));
    shares[bin] += 1.0 / static_cast<double>(one.values.size());
  }
  return shares;
}

std::string Histogram::ToSvg() const {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height);
  const auto text = [&](double x, double y, const char* anchor, const std::string& words) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, SvgText(words));
  };
  double highest = 0.01;
  for (const Series& one : series) {
    for (const double share : Shares(one)) highest = std::max(highest, share);
  }
  const double right = width - kRightMargin, bottom = height - kBottomMargin;
  const auto y_of = [&](double share) { return bottom - share / highest * (bottom - kTopMargin); };
  text(0.5 * (kLeftMargin + right), 22, "middle", title);
  text(0.5 * (kLeftMargin + right), bottom + 40, "middle", x_label);
  for (const double tick : AxisTicks(0, highest, /*logarithmic=*/false, 6)) {
    out += fmt::format("<path d=\"M{} {:.1f}H{:.1f}\" stroke=\"#ddd\"/>\n", kLeftMargin, y_of(tick),
                       right);
    text(kLeftMargin - 7, y_of(tick) + 4, "end", fmt::format("{:.3g}%", 100 * tick));
  }
  const double bin_width = (right - kLeftMargin) / bins;
  const double bar_width =
      0.86 * bin_width / static_cast<double>(std::max<size_t>(1, series.size()));
  for (int bin = 0; bin <= bins; ++bin) {
    text(kLeftMargin + bin * bin_width, bottom + 17, "middle",
         fmt::format("{:.3g}", low + (high - low) * bin / bins));
  }
  for (size_t i = 0; i < series.size(); ++i) {
    const char* colour = kColours[i % kColours.size()];
    const std::vector<double> shares = Shares(series[i]);
    for (int bin = 0; bin < bins; ++bin) {
      const double x =
          kLeftMargin + bin * bin_width + 0.07 * bin_width + static_cast<double>(i) * bar_width;
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x,
          y_of(shares[bin]), bar_width, bottom - y_of(shares[bin]), colour);
    }
    const double y = kTopMargin + 8 + kLegendLine * static_cast<double>(i);
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n",
                       right - 190, y, colour);
    text(right - 172, y + 10, "start", series[i].name);
  }
  return out + "</svg>\n";
}

}  // namespace bayloom::charts

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bayloom/report/line_chart.h"

namespace bayloom::report {
namespace {

/// Okabe and Ito's colours: told apart by colour-blind readers too.
constexpr std::array<const char*, 6> kColours = {"#0072b2", "#d55e00", "#009e73",
                                                 "#cc79a7", "#e69f00", "#56b4e9"};
constexpr int kLeft = 60, kTop = 40, kBottom = 52, kRight = 16, kLegendLine = 18;

/// Names are the program's own, but for `&` and `<` they could be anybody's.
std::string Escape(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return out;
}

}  // namespace

std::vector<double> Histogram::Shares(const Series& one) const {
  std::vector<double> shares(bins, 0);
  for (const double value : one.values) {
    const int bin = static_cast<int>((value - low) / (high - low) * bins);
    shares[std::clamp(bin, 0, bins - 1)] += 1.0 / static_cast<double>(one.values.size());
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
                       anchor, Escape(words));
  };
  double highest = 0.01;
  for (const Series& one : series) {
    for (const double share : Shares(one)) highest = std::max(highest, share);
  }
  const double right = width - kRight, bottom = height - kBottom;
  const auto y_of = [&](double share) { return bottom - share / highest * (bottom - kTop); };
  text(0.5 * (kLeft + right), 22, "middle", title);
  text(0.5 * (kLeft + right), bottom + 40, "middle", x_label);
  for (const double tick : AxisTicks(0, highest, /*logarithmic=*/false, 6)) {
    out +=
        fmt::format("<path d=\"M{} {:.1f}H{:.1f}\" stroke=\"#ddd\"/>\n", kLeft, y_of(tick), right);
    text(kLeft - 7, y_of(tick) + 4, "end", fmt::format("{:.3g}%", 100 * tick));
  }
  const double bin_width = (right - kLeft) / bins;
  const double bar_width =
      0.86 * bin_width / static_cast<double>(std::max<size_t>(1, series.size()));
  for (int bin = 0; bin <= bins; ++bin) {
    text(kLeft + bin * bin_width, bottom + 17, "middle",
         fmt::format("{:.3g}", low + (high - low) * bin / bins));
  }
  for (size_t i = 0; i < series.size(); ++i) {
    const char* colour = kColours[i % kColours.size()];
    const std::vector<double> shares = Shares(series[i]);
    for (int bin = 0; bin < bins; ++bin) {
      const double x =
          kLeft + bin * bin_width + 0.07 * bin_width + static_cast<double>(i) * bar_width;
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x,
          y_of(shares[bin]), bar_width, bottom - y_of(shares[bin]), colour);
    }
    const double y = kTop + 8 + kLegendLine * static_cast<double>(i);
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n",
                       right - 190, y, colour);
    text(right - 172, y + 10, "start", series[i].name);
  }
  return out + "</svg>\n";
}

}  // namespace bayloom::report

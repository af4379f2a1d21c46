// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace bayloom::report {
namespace {

/// Okabe and Ito's colours: told apart by colour-blind readers too.
constexpr std::array<const char*, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#000000"};
/// Told apart where the colours repeat.
constexpr std::array<const char*, 4> kDashes = {"none", "6 3", "2 2", "8 3 2 3"};

constexpr int kLeft = 72, kTop = 40, kBottom = 52, kLegendWidth = 190, kRight = 16;
constexpr int kLegendLine = 18;

std::string Escape(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// One dimension of the plot: values to pixels.
class Axis {
 public:
  Axis(bool logarithmic, double first_pixel, double last_pixel)
      : logarithmic_(logarithmic), first_pixel_(first_pixel), last_pixel_(last_pixel) {}

  bool Shows(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0); }
  void Include(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  /// Settles the range: never empty, and from 0 on where that costs little room.
  void Finish() {
    if (low_ > high_) low_ = high_ = 1;
    if (!logarithmic_ && low_ > 0 && low_ < 0.3 * high_) low_ = 0;
    if (low_ == high_) {
      const double margin = logarithmic_ ? 0 : std::max(0.5 * std::abs(low_), 0.5);
      low_ = logarithmic_ ? low_ / 2 : low_ - margin;
      high_ = logarithmic_ ? high_ * 2 : high_ + margin;
    }
  }
  double Pixel(double value) const {
    const double share = (Scale(value) - Scale(low_)) / (Scale(high_) - Scale(low_));
    return first_pixel_ + share * (last_pixel_ - first_pixel_);
  }
  std::vector<double> Ticks(int most) const { return AxisTicks(low_, high_, logarithmic_, most); }

 private:
  double Scale(double value) const { return logarithmic_ ? std::log10(value) : value; }

  bool logarithmic_;
  double first_pixel_, last_pixel_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

class SvgChart {
 public:
  explicit SvgChart(const LineChart& chart)
      : chart_(chart),
        right_(chart.width - kRight - (chart.series.size() > 1 ? kLegendWidth : 0)),
        bottom_(chart.height - kBottom),
        x_(chart.log_x, kLeft, right_),
        y_(chart.log_y, bottom_, kTop) {
    for (const LineChart::Series& series : chart.series) {
      for (const auto& [x, y] : series.points) {
        if (!Shows(x, y)) continue;
        x_.Include(x);
        y_.Include(y);
      }
    }
    x_.Finish();
    y_.Finish();
  }

  std::string Write() {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        chart_.width, chart_.height);
    Text(0.5 * (kLeft + right_), 22, "middle", chart_.title, " font-size=\"15\"");
    WriteAxes();
    for (size_t i = 0; i < chart_.series.size(); ++i) WriteSeries(i);
    if (chart_.series.size() > 1) WriteLegend();
    return out_ + "</svg>\n";
  }

 private:
  bool Shows(double x, double y) const { return x_.Shows(x) && y_.Shows(y); }

  void Text(double x, double y, const char* anchor, const std::string& text,
            const std::string& attributes = "") {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                        anchor, attributes, Escape(text));
  }
  void Line(double x1, double y1, double x2, double y2, const char* colour) {
    out_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1,
        x2, y2, colour);
  }

  void WriteAxes() {
    for (double tick : x_.Ticks(8)) {
      const double at = x_.Pixel(tick);
      Line(at, kTop, at, bottom_, "#ddd");
      Text(at, bottom_ + 17, "middle", fmt::format("{:g}", tick));
    }
    for (double tick : y_.Ticks(7)) {
      const double at = y_.Pixel(tick);
      Line(kLeft, at, right_, at, "#ddd");
      Text(kLeft - 7, at + 4, "end", fmt::format("{:g}", tick));
    }
    Line(kLeft, bottom_, right_, bottom_, "#444");
    Line(kLeft, kTop, kLeft, bottom_, "#444");
    Text(0.5 * (kLeft + right_), bottom_ + 40, "middle", chart_.x_label);
    const double middle = 0.5 * (kTop + bottom_);
    Text(16, middle, "middle", chart_.y_label,
         fmt::format(" transform=\"rotate(-90 16 {:.1f})\"", middle));
  }

  static std::string Stroke(size_t series) {
    return fmt::format("stroke=\"{}\" stroke-dasharray=\"{}\" stroke-width=\"1.6\" fill=\"none\"",
                       kColours[series % kColours.size()],
                       kDashes[series / kColours.size() % kDashes.size()]);
  }

  void WriteSeries(size_t index) {
    const LineChart::Series& series = chart_.series[index];
    std::string path;
    for (const auto& [x, y] : series.points) {
      if (!Shows(x, y)) continue;
      const double at_x = x_.Pixel(x), at_y = y_.Pixel(y);
      if (path.empty()) {
        path = fmt::format("M{:.1f} {:.1f}", at_x, at_y);
      } else if (series.steps) {
        path += fmt::format("H{:.1f}V{:.1f}", at_x, at_y);
      } else {
        path += fmt::format("L{:.1f} {:.1f}", at_x, at_y);
      }
    }
    if (path.empty()) return;
    out_ += fmt::format("<path d=\"{}\" {}><title>{}</title></path>\n", path, Stroke(index),
                        Escape(series.name));
  }

  /// As many entries as there is room for.
  void WriteLegend() {
    const double x = right_ + 16;
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      const double y = kTop + kLegendLine * static_cast<double>(i) + 6;
      const bool last_line = y + kLegendLine > bottom_;
      if (last_line && i + 1 < chart_.series.size()) {
        Text(x, y + 4, "start", fmt::format("and {} more", chart_.series.size() - i));
        return;
      }
      out_ += fmt::format("<path d=\"M{:.1f} {:.1f}h22\" {}/>\n", x, y, Stroke(i));
      Text(x + 28, y + 4, "start", chart_.series[i].name);
    }
  }

  const LineChart& chart_;
  double right_, bottom_;
  Axis x_, y_;
  std::string out_;
};

std::vector<double> LinearTicks(double low, double high, int most) {
  const double rough = (high - low) / most;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough) step = factor * power;
  }
  std::vector<double> ticks;
  const double slack = 1e-9 * (high - low);
  for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k) {
    ticks.push_back(k == 0 ? 0 : k * step);
  }
  return ticks;
}

std::vector<double> LogarithmicTicks(double low, double high, int most) {
  std::vector<double> ticks;
  for (const std::vector<double>& factors : {std::vector<double>{1, 2, 5}, {1, 3}, {1}}) {
    ticks.clear();
    for (double e = std::floor(std::log10(low)); e <= std::ceil(std::log10(high)); ++e) {
      for (double factor : factors) {
        const double tick = factor * std::pow(10, e);
        if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push_back(tick);
      }
    }
    if (static_cast<int>(ticks.size()) <= most + 1) break;
  }
  return ticks;
}

}  // namespace

std::vector<double> AxisTicks(double low, double high, bool logarithmic, int most) {
  if (!logarithmic) return LinearTicks(low, high, most);
  std::vector<double> ticks = LogarithmicTicks(low, high, most);
  return ticks.size() < 2 ? LinearTicks(low, high, most) : ticks;
}

std::string LineChart::ToSvg() const { return SvgChart(*this).Write(); }

}  // namespace bayloom::report

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/charts/line_chart.h"

#include <fmt/format.h>

#include <array>

#include "benchmarks/charts/axis.h"
#include "benchmarks/charts/svg_layout.h"
#include "benchmarks/charts/svg_text.h"

namespace bayloom::charts {
namespace {

/// Told apart where the colours repeat.
constexpr std::array<const char*, 4> kDashes = {"none", "6 3", "2 2", "8 3 2 3"};

constexpr int kLegendWidth = 190;

class SvgChart {
 public:
  explicit SvgChart(const LineChart& chart)
      : chart_(chart),
        right_(chart.width - kRightMargin - (chart.series.size() > 1 ? kLegendWidth : 0)),
        bottom_(chart.height - kBottomMargin),
        x_(chart.log_x, kLeftMargin, right_),
        y_(chart.log_y, bottom_, kTopMargin) {
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
    Text(0.5 * (kLeftMargin + right_), 22, "middle", chart_.title, " font-size=\"15\"");
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
                        anchor, attributes, SvgText(text));
  }
  void Line(double x1, double y1, double x2, double y2, const char* colour) {
    out_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1,
        x2, y2, colour);
  }

  /// Calls `draw` with each tick's pixel and label.
  template <typename Draw>
  static void ForEachTick(const Axis& axis, int most, const Draw& draw) {
    const std::vector<double> ticks = axis.Ticks(most);
    const std::vector<std::string> labels = TickLabels(ticks);
    for (size_t i = 0; i < ticks.size(); ++i) draw(axis.Pixel(ticks[i]), labels[i]);
  }

  void WriteAxes() {
    ForEachTick(x_, 8, [&](double at, const std::string& label) {
      Line(at, kTopMargin, at, bottom_, "#ddd");
      Text(at, bottom_ + 17, "middle", label);
    });
    ForEachTick(y_, 7, [&](double at, const std::string& label) {
      Line(kLeftMargin, at, right_, at, "#ddd");
      Text(kLeftMargin - 7, at + 4, "end", label);
    });
    Line(kLeftMargin, bottom_, right_, bottom_, "#444");
    Line(kLeftMargin, kTopMargin, kLeftMargin, bottom_, "#444");
    Text(0.5 * (kLeftMargin + right_), bottom_ + 40, "middle", chart_.x_label);
    const double middle = 0.5 * (kTopMargin + bottom_);
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
                        SvgText(series.name));
  }

  /// As many entries as there is room for.
  void WriteLegend() {
    const double x = right_ + 16;
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      const double y = kTopMargin + kLegendLine * static_cast<double>(i) + 6;
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

}  // namespace

std::string LineChart::ToSvg() const { return SvgChart(*this).Write(); }

}  // namespace bayloom::charts

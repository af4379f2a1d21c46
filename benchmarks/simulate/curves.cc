// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Draws what bayloom-simulate and benchmarks/peers/autotuners/simulate.py wrote: for each space one
// chart with the median best-so-far curve of every optimizer, and one table in Markdown.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bayloom/base/result.h"
#include "benchmarks/charts/line_chart.h"
#include "benchmarks/run_tool.h"

namespace bayloom {
namespace {

using nlohmann::json;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The searches of one optimizer on one space.
struct Entry {
  std::string space, optimizer;
  double optimum;
  int max_trials;
  json runs;
};

std::vector<Entry> ReadEntries(const std::vector<std::string>& paths) {
  std::vector<Entry> entries;
  for (const std::string& path : paths) {
    std::ifstream file(path);
    const json rows = json::parse(file, nullptr, false);
    if (!rows.is_array()) throw InputError(path + ": no curves");
    for (const json& row : rows) {
      entries.push_back({row.at("space"), row.at("optimizer"), row.at("optimum"),
                         row.at("max_trials"), row.at("runs")});
    }
  }
  return entries;
}

/// The lower one of two middle values.
double Quantile(std::vector<double> values, int quarter) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(quarter) * (values.size() - 1) / 4];
}

/// Best value after so many trials; infinity before the first.
double BestAfter(const json& run, int trials) {
  double best = kNever;
  for (const json& point : run.at("improvements")) {
    if (point.at(0) > trials) break;
    best = point.at(1);
  }
  return best;
}

charts::LineChart::Series MedianCurve(const Entry& entry) {
  std::set<int> trials;
  for (const json& run : entry.runs) {
    for (const json& point : run.at("improvements")) trials.insert(point.at(0).get<int>());
  }
  trials.insert(entry.max_trials);
  charts::LineChart::Series series{.name = entry.optimizer, .points = {}, .steps = true};
  for (int t : trials) {
    std::vector<double> bests;
    for (const json& run : entry.runs) bests.push_back(BestAfter(run, t));
    series.points.emplace_back(t, Quantile(bests, 2) / entry.optimum);
  }
  return series;
}

/// "31 (20 .. 44)": median and quartiles of the trials until within the i-th share.
std::string TrialsToReach(const Entry& entry, size_t i) {
  std::vector<double> trials;
  for (const json& run : entry.runs) {
    const json& reached = run.at("trials_to_reach").at(i);
    trials.push_back(reached.is_null() ? kNever : reached.get<double>());
  }
  const auto text = [&](int quarter) {
    const double quantile = Quantile(trials, quarter);
    return quantile == kNever ? fmt::format(">{}", entry.max_trials) : fmt::format("{}", quantile);
  };
  return fmt::format("{} ({} .. {})", text(2), text(1), text(3));
}

void PrintTable(const std::vector<const Entry*>& entries) {
  fmt::print("\n| {} | within 10 % | within 5 % | within 1 % |\n|---|---|---|---|\n",
             entries.front()->space);
  for (const Entry* entry : entries) {
    fmt::print("| {} | {} | {} | {} |\n", entry->optimizer, TrialsToReach(*entry, 0),
               TrialsToReach(*entry, 1), TrialsToReach(*entry, 2));
  }
}

void Draw(const std::vector<const Entry*>& entries, const std::string& folder) {
  const std::string& space = entries.front()->space;
  charts::LineChart chart;
  chart.title = space + ": best value so far, median";
  chart.x_label = "evaluations";
  chart.y_label = "times the optimum";
  chart.log_x = true;
  chart.log_y = true;
  for (const Entry* entry : entries) chart.series.push_back(MedianCurve(*entry));
  std::string name = space;
  std::replace(name.begin(), name.end(), '/', '-');
  const std::string path = folder + "/" + name + ".svg";
  std::ofstream file(path);
  file << chart.ToSvg();
  if (!file) throw InputError(path + ": cannot write");
}

void Run(const std::vector<std::string>& paths, const std::string& folder) {
  const std::vector<Entry> entries = ReadEntries(paths);
  std::map<std::string, std::vector<const Entry*>> by_space;
  for (const Entry& entry : entries) by_space[entry.space].push_back(&entry);
  for (const auto& [space, of_space] : by_space) {
    PrintTable(of_space);
    if (!folder.empty()) Draw(of_space, folder);
  }
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  std::vector<std::string> paths;
  std::string folder;
  CLI::App app("Tables and charts of simulated searches.", "bayloom-curves");
  app.add_option("curves", paths, "Files that bayloom-simulate --json wrote")->required();
  app.add_option("--svg", folder, "Write one chart a space into this folder");
  return bayloom::RunTool(app, argc, argv, [&] { bayloom::Run(paths, folder); });
}

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/cli/internal/commands.h"
#include "bayloom/record/store.h"
#include "bayloom/report/format.h"
#include "bayloom/report/run_summary.h"
#include "bayloom/report/session_charts.h"
#include "bayloom/report/session_report.h"

namespace bayloom::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> databases;
  std::optional<int64_t> run;
  std::string out;
  bool slots = false;
  bool json = false;
};

/// Charts and figures of several runs in one folder.
class Folder {
 public:
  explicit Folder(const std::string& path) : path_(path) { base::CreateFolder(path); }

  void Write(const std::string& name, const std::string& text) {
    const std::string path = (path_ / name).string();
    base::WriteFile(path, text);
    written_.push_back(path);
  }
  const std::vector<std::string>& written() const { return written_; }

 private:
  std::filesystem::path path_;
  std::vector<std::string> written_;
};

std::vector<record::RunRecord> ChosenRuns(record::Store& store, const ReportOptions& options) {
  if (options.run) return {store.RunOf(*options.run)};
  std::vector<record::RunRecord> runs = store.Runs();
  if (runs.empty()) throw InputError(store.path() + " has no run yet");
  return runs;
}

void Print(const report::SessionReport& report, bool slots) {
  fmt::print("{} ({}): {} trials in {}, latency {}\n\n", report.record.name, report.label,
             report::FormatCount(report.trials()), report::FormatSeconds(report.seconds()),
             report::FormatSeconds(report.latency()));
  const report::Table tables[] = {report::LatencyTable(report), report::TaskTable(report),
                                  report::PhaseTable(report), report::ModelTable(report)};
  for (const report::Table& table : tables) {
    if (!table.empty()) fmt::print("{}\n", table.Text());
  }
  if (slots) fmt::print("{}\n", report::TurnTable(report).Text());
}

void Print(const report::RunSummary& summary) {
  const record::RunRecord& run = summary.record;
  fmt::print("{} ({}, seed {}): {} trials in {}, without a value: {}\n\n", run.name, run.proposer,
             run.seed, report::FormatCount(summary.trials), report::FormatSeconds(summary.seconds),
             report::FailureText(summary));
  const report::Table improvements = report::ImprovementTable(summary);
  if (!improvements.empty()) fmt::print("{}\n", improvements.Text());
}

/// "resnet18-3": the database's name and the run's number.
std::string Prefix(const std::string& database, record::RunId run) {
  return fmt::format("{}-{}", std::filesystem::path(database).stem().string(), run);
}

/// One chart of each kind for all tunings of a model.
void DrawTogether(const std::vector<report::SessionReport>& reports, Folder& folder) {
  std::map<std::string, std::vector<report::SessionReport>> models;
  for (const report::SessionReport& report : reports) models[report.record.name].push_back(report);
  for (const auto& [model, sessions] : models) {
    std::string name = std::filesystem::path(model).stem().string();
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == ':'; }, '-');
    folder.Write(name + "-latency-trials.svg", report::LatencyChart(sessions, false).ToSvg());
    folder.Write(name + "-latency-time.svg", report::LatencyChart(sessions, true).ToSvg());
  }
}

void DrawSession(record::Store& store, const report::SessionReport& report, Folder& folder) {
  const std::string prefix = Prefix(store.path(), report.record.id);
  folder.Write(prefix + "-tasks.svg", report::ConvergenceChart(store, report.record.id).ToSvg());
  folder.Write(prefix + "-trials.svg", report::AllocationChart(report).ToSvg());
  if (!report.model.empty()) {
    folder.Write(prefix + "-model.svg", report::ModelQualityChart(store, report.record.id).ToSvg());
  }
}

/// What is to be told of all databases.
struct Reports {
  std::vector<report::SessionReport> sessions;  ///< of tunings and measurements of pools
  std::vector<report::RunSummary> searches;     ///< of all other runs
  nlohmann::json figures = nlohmann::json::array();
};

void AddReport(record::Store& store, const record::RunRecord& run, Reports& reports,
               Folder* folder) {
  if (run.kind == record::RunKind::kTune || run.kind == record::RunKind::kDataset) {
    const report::SessionReport& report =
        reports.sessions.emplace_back(report::ReportOf(store, run.id));
    reports.figures.push_back(report::ToJson(report));
    if (folder) DrawSession(store, report, *folder);
    return;
  }
  const report::RunSummary& summary =
      reports.searches.emplace_back(report::SummaryOf(store, run.id));
  reports.figures.push_back(report::ToJson(summary));
  if (folder) {
    folder->Write(Prefix(store.path(), run.id) + "-progress.svg",
                  report::ProgressChart(summary).ToSvg());
  }
}

void Report(const ReportOptions& options) {
  std::optional<Folder> folder;
  if (!options.out.empty()) folder.emplace(options.out);
  Reports reports;
  for (const std::string& database : options.databases) {
    record::Store store(database, record::Store::Mode::kReadOnly);
    for (const record::RunRecord& run : ChosenRuns(store, options)) {
      AddReport(store, run, reports, folder ? &*folder : nullptr);
    }
  }
  if (folder) {
    DrawTogether(reports.sessions, *folder);
    folder->Write("report.json", reports.figures.dump(2) + "\n");
  }
  if (options.json) {
    fmt::print("{}\n", reports.figures.dump(2));
    return;
  }
  for (const report::SessionReport& report : reports.sessions) Print(report, options.slots);
  for (const report::RunSummary& summary : reports.searches) Print(summary);
  if (!folder) return;
  for (const std::string& file : folder->written()) fmt::print("wrote {}\n", file);
}

}  // namespace

void AddReportCommand(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* report =
      app.add_subcommand("report", "Report on the runs of databases: figures, and charts as SVG");
  report
      ->add_option("databases", options->databases,
                   "Databases written by 'bayloom tune', 'search' or 'map'")
      ->required();
  report->add_option("--run,--session", options->run, "Only this run; default all");
  report->add_option("--out,-o", options->out,
                     "Folder for the charts, and for all figures as report.json");
  report->add_flag("--slots", options->slots, "Also list what the scheduler chose slot by slot");
  report->add_flag("--json", options->json, "Print all figures as JSON");
  report->footer(
      "The latency is the sum over all tasks of their best programs' times, each as often as the\n"
      "model calls it. The charts: latency over trials and over time, all tunings of a model\n"
      "together; for each tuning the tasks' best-so-far curves, the trials they were given, and\n"
      "how well the cost model predicted; for each search the best value over the trials.\n"
      "\n"
      "Examples:\n"
      "  bayloom report resnet18.db\n"
      "  bayloom report gradient.db dynatune.db --out charts");
  report->callback([options] { Report(*options); });
}

}  // namespace bayloom::cli

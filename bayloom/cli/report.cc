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
#include <utility>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/one_line.h"
#include "bayloom/base/result.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/file_name.h"
#include "bayloom/cli/help.h"
#include "bayloom/page/page_html.h"
#include "bayloom/page/page_reader.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/report/format.h"
#include "bayloom/report/gain_text.h"
#include "bayloom/report/pool_table.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/repeat_table.h"
#include "bayloom/report/run_summary.h"
#include "bayloom/report/session_charts.h"
#include "bayloom/report/session_report.h"

namespace bayloom::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> databases;
  std::optional<int64_t> run;
  std::string out;
  std::string html;
  bool slots = false;
  bool json = false;
};

/// Charts and figures of several runs in one folder.
class Folder {
 public:
  explicit Folder(const std::string& path) : path_(path) { base::CreateFolder(path); }

  /// A file of this name, or with a number in it where there is one already.
  void Write(const std::string& name, const std::string& text) {
    std::string path = (path_ / name).string();
    for (int number = 2; std::ranges::count(written_, path) > 0; ++number) {
      path = (path_ / fmt::format("{}-{}", number, name)).string();
    }
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
  return store.Runs();
}

void PrintRepeats(const report::Table& repeats) {
  if (!repeats.empty()) fmt::print("Evaluated again, in turns:\n{}\n", repeats.Text());
}

void Print(const report::SessionReport& report, bool slots) {
  const int estimated = report.estimated_tasks();
  fmt::print("{} ({}): {} trials in {}, latency {}{}\n", base::InOneLine(report.record.name),
             base::InOneLine(report.label), report::FormatCount(report.trials()),
             report::FormatSeconds(report.seconds()), report::FormatSeconds(report.latency()),
             estimated == 0
                 ? ""
                 : fmt::format(", {} of {} tasks by estimate (~)", estimated, report.tasks.size()));
  if (report.gain) fmt::print("gain: {}\n", report::GainText(*report.gain));
  fmt::print("\n");
  const report::Table tables[] = {report::LatencyTable(report), report::TaskTable(report),
                                  report::PhaseTable(report), report::ModelTable(report)};
  for (const report::Table& table : tables) {
    if (!table.empty()) fmt::print("{}\n", table.Text());
  }
  if (slots) fmt::print("{}\n", report::TurnTable(report).Text());
}

void Print(const report::RunSummary& summary) {
  const record::RunRecord& run = summary.record;
  fmt::print("{} ({}, seed {}): {} in {}, without a value: {}\n\n", base::InOneLine(run.name),
             base::InOneLine(run.proposer), run.seed, report::CountText(summary),
             report::FormatSeconds(summary.seconds), report::FailureText(summary));
  const report::Table improvements = report::ImprovementTable(summary);
  if (!improvements.empty()) fmt::print("{}\n", improvements.Text());
}

/// What is to be told of all databases.
struct Reports {
  struct Session {
    report::SessionReport report;
    report::Table repeats;
  };
  struct Search {
    report::RunSummary summary;
    report::Table repeats;
  };
  std::vector<Session> sessions;   ///< of tunings and measurements of pools
  std::vector<Search> searches;    ///< of all other runs
  std::vector<std::string> notes;  ///< of databases: their pools, or that they are empty
  nlohmann::json figures = nlohmann::json::array();
};

/// One chart of each kind for all tunings of a model.
void DrawTogether(const std::vector<Reports::Session>& reports, Folder& folder) {
  std::map<std::string, std::vector<report::SessionReport>> models;
  for (const auto& [report, repeats] : reports) models[report.record.name].push_back(report);
  for (const auto& [model, sessions] : models) {
    const std::string name = FileNameOf(std::filesystem::path(model).stem().string());
    folder.Write(name + "-latency-trials.svg", report::LatencyChart(sessions, false).ToSvg());
    folder.Write(name + "-latency-time.svg", report::LatencyChart(sessions, true).ToSvg());
  }
}

/// Adds what one database holds to the reports, and its charts to the folder if there is one.
class DatabaseReporter {
 public:
  DatabaseReporter(const std::string& path, Reports& reports, Folder* folder)
      : store_(path, record::Store::Mode::kReadOnly), reports_(reports), folder_(folder) {}

  void Add(const ReportOptions& options) {
    const std::vector<record::RunRecord> runs = ChosenRuns(store_, options);
    for (const record::RunRecord& run : runs) AddRun(run);
    if (!options.run) AddPools(runs.empty());
  }

 private:
  void AddRun(const record::RunRecord& run) {
    report::Table repeats = report::RepeatTable(store_, run);
    if (run.kind == record::RunKind::kTune || run.kind == record::RunKind::kDataset) {
      reports_.sessions.push_back({report::ReportOf(store_, run.id), std::move(repeats)});
      const auto& [report, table] = reports_.sessions.back();
      AddFigures(report::ToJson(report), table);
      if (folder_) Draw(report);
      return;
    }
    reports_.searches.push_back({report::SummaryOf(store_, run.id), std::move(repeats)});
    const auto& [summary, table] = reports_.searches.back();
    AddFigures(report::ToJson(summary), table);
    if (folder_) Draw(summary);
  }

  void AddFigures(nlohmann::json figures, const report::Table& repeats) {
    figures["repeats"] = repeats.Json();
    reports_.figures.push_back(std::move(figures));
  }

  void AddPools(bool has_no_run) {
    record::ProgramPool pool(store_.path(), record::ProgramPool::Mode::kReadOnly);
    const report::Table groups = report::PoolTable(pool);
    const std::string path = base::InOneLine(store_.path(), 200);
    if (!groups.empty()) {
      reports_.notes.push_back(
          fmt::format("Programs in {} that may be measured:\n{}\n", path, groups.Text()));
      reports_.figures.push_back(
          {{"kind", "pool"}, {"database", store_.path()}, {"groups", groups.Json()}});
    } else if (has_no_run) {
      reports_.notes.push_back(fmt::format("{} has no run yet\n", path));
    }
  }

  void Draw(const report::SessionReport& report) {
    const std::string prefix = Prefix(report.record.id);
    folder_->Write(prefix + "-tasks.svg",
                   report::ConvergenceChart(store_, report.record.id).ToSvg());
    folder_->Write(prefix + "-trials.svg", report::AllocationChart(report).ToSvg());
    if (!report.model.empty()) {
      folder_->Write(prefix + "-model.svg",
                     report::ModelQualityChart(store_, report.record.id).ToSvg());
    }
  }

  void Draw(const report::RunSummary& summary) {
    const std::string prefix = Prefix(summary.record.id);
    folder_->Write(prefix + "-progress-trials.svg",
                   report::ProgressChart(summary, /*over_time=*/false).ToSvg());
    folder_->Write(prefix + "-progress-time.svg",
                   report::ProgressChart(summary, /*over_time=*/true).ToSvg());
  }

  /// "resnet18-3": the database's name and the run's number.
  std::string Prefix(record::RunId run) const {
    return fmt::format("{}-{}", FileNameOf(std::filesystem::path(store_.path()).stem().string()),
                       run);
  }

  record::Store store_;
  Reports& reports_;
  Folder* folder_;
};

/// Everything of one database as one page.
void WritePage(const ReportOptions& options) {
  if (options.databases.size() != 1) {
    throw InputError("report: --html writes the page of one database; name one");
  }
  base::CheckFolderOf(options.html);
  const std::string& path = options.databases.front();
  record::Store store(path, record::Store::Mode::kReadOnly);
  page::PageReader reader(store, std::filesystem::path(path).filename().string());
  if (!reader.Refresh()) throw InputError(path + " is being cleaned; try again");
  base::WriteFile(options.html, page::PageHtml(reader.Since({}), page::PageKind::kFile));
  fmt::print("wrote {}\n", base::InOneLine(options.html, 500));
}

void Report(const ReportOptions& options) {
  if (!options.html.empty()) return WritePage(options);
  std::optional<Folder> folder;
  if (!options.out.empty()) folder.emplace(options.out);
  Reports reports;
  for (const std::string& database : options.databases) {
    DatabaseReporter(database, reports, folder ? &*folder : nullptr).Add(options);
  }
  if (folder) {
    DrawTogether(reports.sessions, *folder);
    folder->Write("report.json", report::JsonText(reports.figures) + "\n");
  }
  if (options.json) {
    fmt::print("{}\n", report::JsonText(reports.figures));
    return;
  }
  for (const auto& [report, repeats] : reports.sessions) {
    Print(report, options.slots);
    PrintRepeats(repeats);
  }
  for (const auto& [summary, repeats] : reports.searches) {
    Print(summary);
    PrintRepeats(repeats);
  }
  for (const std::string& note : reports.notes) fmt::print("{}", note);
  if (!folder) return;
  for (const std::string& file : folder->written()) {
    fmt::print("wrote {}\n", base::InOneLine(file, 500));
  }
}

}  // namespace

void AddReportCommand(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* report =
      app.add_subcommand("report", "Summarize the runs of databases, as text, page or charts");
  report
      ->add_option("databases", options->databases,
                   "Databases of 'bayloom tune', 'search', 'map' or 'pretrain'")
      ->required();
  CLI::Option* run = report->add_option("--run", options->run, "Only this run")
                         ->option_text("ID")
                         ->default_str("all");
  CLI::Option* html =
      report
          ->add_option("--html", options->html, "Write one page with everything; needs no network")
          ->option_text("FILE");
  CLI::Option* out = report
                         ->add_option("--out,-o", options->out,
                                      "Write charts (SVG) and report.json into this folder")
                         ->option_text("DIR");
  CLI::Option* slots = Advanced(report->add_flag(
      "--slots", options->slots, "Also list the scheduler's choices, slot by slot"));
  CLI::Option* json = report->add_flag("--json", options->json, "Print JSON");
  for (CLI::Option* other : {run, out, slots, json}) html->excludes(other);
  report->footer(WithDetails(
      "Examples:\n"
      "  bayloom report resnet18.db\n"
      "  bayloom report resnet18.db --html resnet18.html\n"
      "  bayloom report gradient.db dynatune.db --out charts",
      "\n\n"
      "The latency of a tuning is the sum over all tasks of their best programs' times,\n"
      "each multiplied by how often the model calls it. The charts: latency over trials\n"
      "and over time, all tunings of a model together; for each tuning the best time of\n"
      "each task, its trials, and how well the cost model predicted; for each search\n"
      "the best value over trials and over time."));
  report->callback([options] { Report(*options); });
}

}  // namespace bayloom::cli

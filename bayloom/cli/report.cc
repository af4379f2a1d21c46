// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/page/page_html.h"
#include "bayloom/page/page_reader.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/report/format.h"
#include "bayloom/report/gain_text.h"
#include "bayloom/report/kept_result.h"
#include "bayloom/report/pool_table.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/repeat_table.h"
#include "bayloom/report/run_summary.h"
#include "bayloom/report/session_report.h"

namespace bayloom::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> databases;
  std::optional<int64_t> run;
  std::string html;
  bool slots = false;
  bool json = false;
};

std::vector<record::RunRecord> ChosenRuns(record::Store& store, const ReportOptions& options) {
  if (options.run) return {store.RunOf(*options.run)};
  // The layers of a network are in its result.
  std::vector<record::RunRecord> runs = store.Runs();
  std::set<record::RunId> layers;
  for (const record::RunRecord& run : runs) {
    if (!report::KeptResultOf(run)) continue;
    for (const record::RunId layer : report::LayerRunsOf(run, runs)) layers.insert(layer);
  }
  std::erase_if(runs, [&](const record::RunRecord& run) { return layers.contains(run.id); });
  return runs;
}

void PrintRepeats(const report::Table& repeats) {
  if (!repeats.empty()) fmt::print("Evaluated again, in turns:\n{}\n", repeats.Text());
}

void Print(const report::SessionReport& report, bool slots) {
  const report::RunDigest& digest = report.digest;
  const int64_t estimated = digest.EstimatedTasks();
  fmt::print("{} ({}): {} trials in {}, latency {}{}\n", base::SingleLine(digest.run().name),
             base::SingleLine(report.label), report::FormatCount(digest.trials()),
             report::FormatSeconds(digest.seconds()), report::FormatSeconds(digest.Latency()),
             estimated == 0 ? ""
                            : fmt::format(", {} of {} tasks by estimate (~)", estimated,
                                          digest.tasks().size()));
  if (digest.state().gain) fmt::print("gain: {}\n", report::GainText(*digest.state().gain));
  fmt::print("\n");
  const report::Table tables[] = {report::LatencyTable(report), report::TaskTable(report),
                                  report::PhaseTable(report), report::ModelTable(report)};
  for (const report::Table& table : tables) {
    if (!table.empty()) fmt::print("{}\n", table.Text());
  }
  if (slots) fmt::print("{}\n", report::TurnTable(report).Text());
}

void Print(const report::RunDigest& digest) {
  const record::RunRecord& run = digest.run();
  fmt::print("{} ({}, seed {}): {} in {}, without a value: {}\n\n", base::SingleLine(run.name),
             base::SingleLine(run.proposer), run.seed, report::CountText(digest),
             report::FormatSeconds(digest.seconds()), report::FailureText(digest));
  if (const auto result = report::KeptResultOf(run)) fmt::print("{}\n", result->Text());
  const report::Table improvements = report::ImprovementTable(digest);
  if (!improvements.empty()) fmt::print("{}\n", improvements.Text());
}

/// What is to be told of all databases.
struct Reports {
  struct Session {
    report::SessionReport report;
    report::Table repeats;
  };
  struct Search {
    report::RunDigest digest;
    report::Table repeats;
  };
  std::vector<Session> sessions;   ///< of tunings and measurements of pools
  std::vector<Search> searches;    ///< of all other runs
  std::vector<std::string> notes;  ///< of databases: their pools, or that they are empty
  nlohmann::json figures = nlohmann::json::array();
};

/// Adds what one database holds to the reports.
class DatabaseReporter {
 public:
  DatabaseReporter(const std::string& path, Reports& reports)
      : store_(path, record::Store::Mode::kReadOnly), reports_(reports) {}

  void Add(const ReportOptions& options) {
    const std::vector<record::RunRecord> runs = ChosenRuns(store_, options);
    for (const record::RunRecord& run : runs) AddRun(run);
    if (!options.run) AddPools(runs.empty());
  }

 private:
  void AddRun(const record::RunRecord& run) {
    report::Table repeats = report::RepeatTable(store_, run);
    if (record::HasTasks(run)) {
      reports_.sessions.push_back({report::ReportOf(store_, run.id), std::move(repeats)});
      const auto& [report, table] = reports_.sessions.back();
      AddFigures(report::ToJson(report), table);
      return;
    }
    reports_.searches.push_back({report::DigestOf(store_, run.id), std::move(repeats)});
    const auto& [digest, table] = reports_.searches.back();
    AddFigures(report::ToJson(digest), table);
  }

  void AddFigures(nlohmann::json figures, const report::Table& repeats) {
    figures["repeats"] = repeats.Json();
    reports_.figures.push_back(std::move(figures));
  }

  void AddPools(bool has_no_run) {
    record::ProgramPool pool(store_.path(), record::ProgramPool::Mode::kReadOnly);
    const report::Table groups = report::PoolTable(pool);
    const std::string path = base::SingleLine(store_.path(), 200);
    if (!groups.empty()) {
      reports_.notes.push_back(
          fmt::format("Programs in {} that may be measured:\n{}\n", path, groups.Text()));
      reports_.figures.push_back(
          {{"kind", "pool"}, {"database", store_.path()}, {"groups", groups.Json()}});
    } else if (has_no_run) {
      reports_.notes.push_back(fmt::format("{} has no run yet\n", path));
    }
  }

  record::Store store_;
  Reports& reports_;
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
  fmt::print("wrote {}\n", base::SingleLine(options.html, 500));
}

void Report(const ReportOptions& options) {
  if (!options.html.empty()) return WritePage(options);
  Reports reports;
  for (const std::string& database : options.databases) {
    DatabaseReporter(database, reports).Add(options);
  }
  if (options.json) {
    fmt::print("{}\n", report::JsonText(reports.figures));
    return;
  }
  for (const auto& [report, repeats] : reports.sessions) {
    Print(report, options.slots);
    PrintRepeats(repeats);
  }
  for (const auto& [digest, repeats] : reports.searches) {
    Print(digest);
    PrintRepeats(repeats);
  }
  for (const std::string& note : reports.notes) fmt::print("{}", note);
}

}  // namespace

void AddReportCommand(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* report =
      app.add_subcommand("report", "Summarize the runs of databases, as text or as a page");
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
  CLI::Option* slots = Advanced(report->add_flag(
      "--slots", options->slots, "Also list the scheduler's choices, slot by slot"));
  CLI::Option* json = report->add_flag("--json", options->json, "Print JSON");
  for (CLI::Option* other : {run, slots, json}) html->excludes(other);
  report->footer(WithDetails(
      "Examples:\n"
      "  bayloom report resnet18.db\n"
      "  bayloom report resnet18.db --html resnet18.html\n"
      "  bayloom report gradient.db dynatune.db",
      "\n\n"
      "The latency of a tuning is the sum over all tasks of their best programs' times,\n"
      "each multiplied by how often the model calls it."));
  report->callback([options] { Report(*options); });
}

}  // namespace bayloom::cli

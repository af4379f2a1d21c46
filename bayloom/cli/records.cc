// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/path_error.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/output.h"
#include "bayloom/cli/show_run.h"
#include "bayloom/record/json_lines.h"
#include "bayloom/record/machine_failures.h"
#include "bayloom/record/store.h"
#include "bayloom/report/format.h"
#include "bayloom/report/search_export.h"
#include "bayloom/report/search_report.h"
#include "bayloom/report/table.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/tuning/session_state.h"

namespace bayloom::cli {
namespace {

struct RecordsOptions {
  std::string database;
  std::string out;
  std::optional<int64_t> run;
  std::string format = "csv";
  std::vector<std::string> files;
  bool remove = false;
};

/// One search, for programs that know nothing of databases.
std::string SearchText(record::Store& store, const RecordsOptions& options) {
  const record::RunRecord record = search::FindStudy(store, *options.run);
  const search::Scenario scenario = ScenarioIn(store, record);
  const std::vector<search::StudyTrial> trials =
      search::ReadStudyTrials(*scenario.space, store, record.id);
  if (options.format == "csv") return report::TrialsCsv(scenario, trials);
  if (options.format == "optuna") return report::OptunaJournal(scenario, trials, record.started);
  if (options.format == "google-benchmark") {
    return report::GoogleBenchmarkReport(scenario, trials, record.started);
  }
  if (options.format == "kernel-tuner-cache") {
    return report::KernelTunerCache(scenario, trials, record.started);
  }
  return report::TrialsT4(scenario, trials).dump() + "\n";
}

void Export(const RecordsOptions& options) {
  record::Store store(options.database, record::Store::Mode::kReadOnly);
  if (options.run) {
    const std::string text = SearchText(store, options);
    return options.out.empty() ? fmt::print("{}", text) : base::WriteFile(options.out, text);
  }
  if (options.out.empty()) {
    record::ExportJsonLines(store, std::cout);
    CheckOutput();
    return;
  }
  base::WriteFile(options.out,
                  [&store](std::ostream& file) { record::ExportJsonLines(store, file); });
}

void Import(const RecordsOptions& options) {
  record::Store store(options.database);
  for (const std::string& name : options.files) {
    std::ifstream file(name);
    if (!file) base::ThrowPathError("cannot read '" + name + "'", errno);
    const record::ImportSummary summary = record::ImportJsonLines(store, file, name);
    const std::string shown = base::SingleLine(name, 200);
    fmt::print("{}: {} new trials, {} known already\n", shown, report::FormatCount(summary.added),
               report::FormatCount(summary.present));
    if (summary.pool_programs > 0) {
      fmt::print("{}: {} new programs of pools\n", shown,
                 report::FormatCount(summary.pool_programs));
    }
    if (summary.samples > 0) {
      fmt::print("{}: {} new samples for cost models\n", shown,
                 report::FormatCount(summary.samples));
    }
  }
}

void Clean(const RecordsOptions& options) {
  record::Store store(options.database, options.remove ? record::Store::Mode::kReadWrite
                                                       : record::Store::Mode::kReadOnly);
  report::Table table({"run", "trials", "recorded as"});
  int64_t trials = 0;
  for (const record::MachineFailure& failure : record::FindMachineFailures(store)) {
    trials += failure.trials;
    table.AddRow({failure.run, failure.trials, base::SingleLine(failure.reason)});
  }
  if (trials == 0) {
    fmt::print("No trial was recorded that failed by the machine's trouble.\n");
    return;
  }
  fmt::print("{}", table.Text());
  if (!options.remove) {
    fmt::print("Trials that failed by the machine's trouble: {}; --remove takes them out.\n",
               report::FormatCount(trials));
    return;
  }
  const int64_t removed = record::RemoveMachineFailures(store, tuning::StateWithoutTrials);
  fmt::print("Trials removed: {}; their runs can be resumed.\n", report::FormatCount(removed));
}

}  // namespace

void AddRecordsCommand(CLI::App& app) {
  auto options = std::make_shared<RecordsOptions>();
  CLI::App* records =
      app.add_subcommand("records", "Export, import and clean the records of databases");
  records->require_subcommand(1);
  records->footer(
      "Records are exported as text, one JSON object a line.\n"
      "\n"
      "Examples:\n"
      "  bayloom records export resnet18.db --out resnet18.jsonl\n"
      "  bayloom records export flags.db --run 1 --out flags.csv\n"
      "  bayloom records import all.db resnet18.jsonl bert_tiny.jsonl\n"
      "  bayloom records clean old.db");

  CLI::App* to_text = records->add_subcommand("export", "Write a database's records as text");
  to_text->add_option("database", options->database, "Database to read")->required();
  to_text->add_option("--out,-o", options->out, "File to write")
      ->option_text("FILE")
      ->default_str("standard output");
  CLI::Option* run = to_text
                         ->add_option("--run", options->run,
                                      "Only this run of 'bayloom search', in another format")
                         ->option_text("ID");
  to_text
      ->add_option("--format", options->format,
                   "With --run: csv; t4 and kernel-tuner-cache, recorded spaces that 'search "
                   "--recorded' reads; optuna, a journal; google-benchmark, a report in JSON")
      ->option_text("FORMAT")
      ->check(CLI::IsMember({"csv", "t4", "kernel-tuner-cache", "optuna", "google-benchmark"}))
      ->capture_default_str()
      ->needs(run);
  to_text->footer(
      "Examples:\n"
      "  bayloom records export resnet18.db --out resnet18.jsonl\n"
      "  bayloom records export flags.db --run 1 --out flags.csv\n"
      "  bayloom records export flags.db --run 1 --format optuna --out journal.log");
  to_text->callback([options] { Export(*options); });

  CLI::App* from_text = records->add_subcommand("import", "Add records to a database");
  from_text->add_option("database", options->database, "Database to add to; created if missing")
      ->required();
  from_text->add_option("files", options->files, "Files written by 'bayloom records export'")
      ->required();
  from_text->footer(
      "Records that the database has already are skipped.\n"
      "\n"
      "Example:\n"
      "  bayloom records import all.db resnet18.jsonl bert_tiny.jsonl");
  from_text->callback([options] { Import(*options); });

  CLI::App* clean = records->add_subcommand(
      "clean", "Count, or remove, trials that failed by the machine's trouble");
  clean->add_option("database", options->database, "Database to clean")->required();
  clean->add_flag("--remove", options->remove, "Remove them instead of counting them");
  clean->footer(
      "Earlier versions recorded it as a configuration's failure when the machine had\n"
      "no open file, process or shared memory left, or killed a process for its memory.\n"
      "Once such trials are removed, a resumed run tries those configurations again.\n"
      "\n"
      "Example:\n"
      "  bayloom records clean old.db --remove");
  clean->callback([options] { Clean(*options); });
}

}  // namespace bayloom::cli

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
#include "bayloom/cli/internal/commands.h"
#include "bayloom/record/json_lines.h"
#include "bayloom/record/store.h"
#include "bayloom/report/format.h"
#include "bayloom/report/search_report.h"
#include "bayloom/tuning/durable_study.h"

namespace bayloom::cli {
namespace {

struct RecordsOptions {
  std::string database;
  std::string out;
  std::optional<int64_t> run;
  std::string format = "csv";
  std::vector<std::string> files;
};

/// One search, for programs that know nothing of databases.
std::string SearchText(record::Store& store, const RecordsOptions& options) {
  const record::RunRecord record = tuning::FindStudy(store, *options.run);
  const external::Scenario scenario = tuning::ScenarioOf(record);
  const std::vector<external::StudyTrial> trials =
      tuning::ReadStudyTrials(*scenario.space, store, record.id);
  if (options.format == "csv") return report::TrialsCsv(scenario, trials);
  return report::TrialsT4(scenario, trials).dump() + "\n";
}

void Export(const RecordsOptions& options) {
  record::Store store(options.database, record::Store::Mode::kReadOnly);
  if (options.run) {
    const std::string text = SearchText(store, options);
    return options.out.empty() ? fmt::print("{}", text) : base::WriteFile(options.out, text);
  }
  if (options.out.empty()) return record::ExportJsonLines(store, std::cout);
  base::WriteFile(options.out,
                  [&store](std::ostream& file) { record::ExportJsonLines(store, file); });
}

void Import(const RecordsOptions& options) {
  record::Store store(options.database);
  for (const std::string& name : options.files) {
    std::ifstream file(name);
    if (!file) base::ThrowPathError("cannot read '" + name + "'", errno);
    const record::ImportSummary summary = record::ImportJsonLines(store, file, name);
    fmt::print("{}: {} new trials, {} known already\n", name, report::FormatCount(summary.added),
               report::FormatCount(summary.present));
    if (summary.pool_programs > 0) {
      fmt::print("{}: {} new programs of pools\n", name,
                 report::FormatCount(summary.pool_programs));
    }
  }
}

}  // namespace

void AddRecordsCommand(CLI::App& app) {
  auto options = std::make_shared<RecordsOptions>();
  CLI::App* records = app.add_subcommand("records", "Carry records from one database to another");
  records->require_subcommand(1);
  records->footer(
      "Records travel as text, one JSON object a line.\n"
      "\n"
      "Examples:\n"
      "  bayloom records export resnet18.db --out resnet18.jsonl\n"
      "  bayloom records export flags.db --run 1 --out flags.csv\n"
      "  bayloom records import all.db resnet18.jsonl bert_tiny.jsonl");

  CLI::App* to_text = records->add_subcommand("export", "Write all records as text");
  to_text->add_option("database", options->database, "The database to read")->required();
  to_text->add_option("--out,-o", options->out, "File to write; standard output if not given");
  CLI::Option* run = to_text->add_option("--run,--search", options->run,
                                         "Only this run of a search, in another format");
  to_text->add_option("--format", options->format, "csv, or t4: a recorded space to search again")
      ->check(CLI::IsMember({"csv", "t4"}))
      ->capture_default_str()
      ->needs(run);
  to_text->callback([options] { Export(*options); });

  CLI::App* from_text = records->add_subcommand("import", "Add records that are not there yet");
  from_text->add_option("database", options->database, "The database to add to; may be new")
      ->required();
  from_text->add_option("files", options->files, "Files written by 'export'")->required();
  from_text->callback([options] { Import(*options); });
}

}  // namespace bayloom::cli

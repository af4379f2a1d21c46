// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/context_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bayloom/base/file.h"
#include "bayloom/base/single_line.h"
#include "bayloom/report/context_report.h"
#include "bayloom/report/search_report.h"
#include "bayloom/search/context_table.h"
#include "bayloom/search/context_tree.h"

namespace bayloom::cli {

std::string ContextOutput::Beginning(const search::ScenarioSearch& search) const {
  const search::SearchMember& first = search.members()[0];
  return fmt::format(
      "{} a search in {} contexts of {}: {} configurations in the first, {} optimizer, {} "
      "scheduler, records in {}\n",
      search.resumed(0) ? "Resuming" : "Beginning", search.members().size(), base::SingleLine(name),
      report::SizeText(*first.scenario.space), first.scenario.optimizer,
      search.run_options().scheduler, base::SingleLine(first.database, 200));
}

std::string ContextOutput::Result(const search::ScenarioSearch& search) const {
  const search::ContextTable table = search::TableOf(search, name);
  std::string text = fmt::format("\n{}", report::ContextRows(table).Text());
  // Where nothing worked, what the last trials failed of says why.
  if (table.candidates.empty()) return text;
  const search::ContextTree tree = search::MakeContextTree(table, max_leaves);
  text += report::LossText(table, tree) + "\n";
  for (const std::string& file : files) {
    base::WriteFile(file, report::ContextFile(table, tree, file));
    text += fmt::format("{}\n", base::SingleLine(file, 200));
  }
  return text;
}

nlohmann::json ContextOutput::Json(const search::ScenarioSearch& search) const {
  const search::ContextTable table = search::TableOf(search, name);
  if (table.candidates.empty()) return {{"name", name}, {"table", nlohmann::json::array()}};
  const search::ContextTree tree = search::MakeContextTree(table, max_leaves);
  for (const std::string& file : files) {
    base::WriteFile(file, report::ContextFile(table, tree, file));
  }
  return report::ContextJson(table, tree);
}

}  // namespace bayloom::cli

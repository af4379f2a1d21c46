// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/run_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/base/json.h"
#include "bayloom/report/format.h"
#include "bayloom/report/kept_result.h"
#include "bayloom/report/mapping_units.h"

namespace bayloom::report {
namespace {

/// What a run's candidates are.
const char* NameOfCandidates(record::RunKind kind) {
  switch (kind) {
    case record::RunKind::kSearch:
      return "configuration";
    case record::RunKind::kMap:
      return "mapping";
    default:
      return "candidate";
  }
}

/// As JSON where it is that.
nlohmann::json CandidateOf(const RunDigest::Improvement& improvement) {
  nlohmann::json candidate = base::ParseJsonOrDiscard(improvement.candidate);
  return candidate.is_discarded() ? nlohmann::json(improvement.candidate) : candidate;
}

}  // namespace

std::string CountText(const RunDigest& digest) {
  if (digest.parts() == "layers") {
    const nlohmann::json definition = base::ParseJsonOrDiscard(digest.run().definition);
    return fmt::format("{} layers", definition.at("layers").size());
  }
  return fmt::format("{} {}", FormatCount(digest.trials()),
                     digest.parts().empty() ? "trials" : digest.parts());
}

std::string FailureText(const RunDigest& digest) {
  std::string text;
  for (const auto& [verdict, count] : digest.failures()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", FormatCount(count), verdict);
  }
  return text.empty() ? "none" : text;
}

std::string OptionOf(const record::RunRecord& run, const char* name) {
  const nlohmann::json options = base::ParseJsonOrDiscard(run.definition);
  const bool is_there = options.is_object() && options.contains(name) && options[name].is_string();
  return is_there ? options[name].get<std::string>() : "";
}

std::string ProposerOf(const record::RunRecord& run) {
  return run.proposer.empty() ? OptionOf(run, "strategy") : run.proposer;
}

std::string GoalOf(const record::RunRecord& run) { return run.maximize ? "maximize" : "minimize"; }

Table ImprovementTable(const RunDigest& digest) {
  const std::string& objective = digest.run().objective;
  Table table({"trial", "elapsed", objective.empty() ? "value" : objective,
               NameOfCandidates(digest.run().kind)});
  for (const RunDigest::Improvement& improvement : digest.improvements()) {
    table.AddRow({improvement.trial,
                  {improvement.elapsed, FormatSeconds(improvement.elapsed)},
                  {improvement.value, FormatRunValue(digest.run(), improvement.value)},
                  improvement.candidate});
  }
  return table;
}

nlohmann::json ToJson(const RunDigest& digest) {
  const record::RunRecord& run = digest.run();
  nlohmann::json improvements = nlohmann::json::array();
  for (const RunDigest::Improvement& improvement : digest.improvements()) {
    improvements.push_back({{"trial", improvement.trial},
                            {"elapsed", improvement.elapsed},
                            {"value", improvement.value},
                            {"candidate", CandidateOf(improvement)}});
  }
  nlohmann::json json = {{"run", run.id},
                         {"kind", std::string(record::ToString(run.kind))},
                         {"name", run.name},
                         {"objective", run.objective},
                         {"goal", GoalOf(run)},
                         {"proposer", run.proposer},
                         {"seed", run.seed},
                         {"finished", run.finished},
                         {"trials", digest.trials()},
                         {"failures", digest.failures()},
                         {"seconds", digest.seconds()},
                         {"best", improvements.empty() ? nlohmann::json() : improvements.back()},
                         {"improvements", improvements}};
  if (digest.parts().starts_with("tiles")) json["tiles"] = digest.trials();
  if (const auto result = KeptResultOf(run)) json["result"] = ToJson(*result);
  return json;
}

}  // namespace bayloom::report

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/record/store.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// What a mapping of a network came to, as it is printed: layers, groups or parts on cores, and
/// totals. Kept with its run (accelerator/run_journal.h), so that it can be shown again.
struct KeptResult {
  struct Part {
    std::string title;  ///< may be empty
    Table table;
    std::string totals;  ///< lines
  };
  std::string summary;  ///< a line: the network, the mapper, evaluations
  std::vector<Part> parts;

  /// All parts, as they are printed.
  std::string Text() const;
};

/// {"summary", "parts": [{"title", "table" (Table::Kept), "totals"}]}.
nlohmann::json ToJson(const KeptResult& result);
/// Of a run that has one.
std::optional<KeptResult> KeptResultOf(const record::RunRecord& run);

/// The runs of layers that belong to a mapping of a network, of all runs of a store.
std::vector<record::RunId> LayerRunsOf(const record::RunRecord& run,
                                       const std::vector<record::RunRecord>& all);

}  // namespace bayloom::report

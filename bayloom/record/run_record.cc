// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/run_record.h"

#include <array>

namespace bayloom::record {
namespace {

constexpr std::array<std::string_view, 4> kRunKindNames = {"tune", "dataset", "search", "map"};

}  // namespace

std::string_view ToString(RunKind kind) { return kRunKindNames[static_cast<size_t>(kind)]; }

std::optional<RunKind> ParseRunKind(std::string_view text) {
  for (size_t i = 0; i < kRunKindNames.size(); ++i) {
    if (kRunKindNames[i] == text) return static_cast<RunKind>(i);
  }
  return std::nullopt;
}

bool HasTasks(const RunRecord& run) {
  return run.kind == RunKind::kTune || run.kind == RunKind::kDataset;
}

}  // namespace bayloom::record

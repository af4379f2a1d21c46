// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bayloom/record/run_record.h"

namespace bayloom::page {

/// A mapping as nested loops, and what the model says of it: energy, words and cycles by level. See
/// PageReader for the form. Where the run's problem or the mapping cannot be read, "note" says so.
nlohmann::json MappingDetails(const record::RunRecord& run, const std::string& candidate);

}  // namespace bayloom::page

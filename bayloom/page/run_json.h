// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bayloom/report/run_digest.h"

namespace bayloom::page {

/// A run and its trials in numbers; see PageReader for the form.
nlohmann::json RunJson(const report::RunDigest& digest);
/// JSON whose texts are all Sanitized, which keeps lines where they are.
nlohmann::json SanitizedTexts(const nlohmann::json& json);

}  // namespace bayloom::page

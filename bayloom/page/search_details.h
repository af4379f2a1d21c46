// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bayloom/record/store.h"

namespace bayloom::page {

/// What a search searches, and which of its parameters matter. See PageReader for the form.
/// Where the scenario cannot be read or its trials do not fit it, "note" says so.
nlohmann::json SearchDetails(record::Store& store, const record::RunRecord& run);

}  // namespace bayloom::page

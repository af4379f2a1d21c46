// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bayloom/record/store.h"

namespace bayloom::page {

/// A task on a target: its best program beside the default one, what is measured and estimated of
/// both, and what the estimate says of each decision. See PageReader for the form. Throws
/// InputError where the store's rows are damaged.
nlohmann::json ProgramDetails(record::Store& store, const record::TaskRecord& task,
                              record::TargetId target);

/// Changes when ProgramDetails would: what the best candidate is, and how often it was repeated.
std::string ProgramDetailsKey(record::Store& store, record::TaskId task, record::TargetId target);

}  // namespace bayloom::page

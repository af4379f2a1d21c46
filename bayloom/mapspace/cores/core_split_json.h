// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "bayloom/mapspace/cores/core_model.h"

namespace bayloom::mapspace {

/// [{"dimension", "parts"}].
nlohmann::json ToJson(const CoreSplit& split, const Problem& problem);
/// Nullopt if it is no split of the problem.
std::optional<CoreSplit> CoreSplitFromJson(const nlohmann::json& axes, const Problem& problem);

}  // namespace bayloom::mapspace

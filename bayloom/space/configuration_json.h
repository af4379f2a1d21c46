// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bayloom/base/result.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"

namespace bayloom::space {

/// {"tile": 8, "layout": "rows", "order": [2, 0, 1], "rate": 0.25}; without what is inactive.
nlohmann::json ToJson(const Space& space, const Configuration& configuration);
nlohmann::json ToJson(const Value& value);

/// Truth values are the texts "true" and "false" (or as the parameter spells them); null is the
/// same as leaving out. Fails, naming the parameter, as Space::Parse does.
Result<Configuration> FromJson(const Space& space, const nlohmann::json& json);

}  // namespace bayloom::space

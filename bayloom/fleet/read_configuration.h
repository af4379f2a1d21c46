// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::fleet {

/// A configuration as it was sent to a worker; fails for what is not in the space.
inline Result<space::Configuration> ReadConfiguration(const space::Space& space,
                                                      const nlohmann::json& json) {
  Result<space::Configuration> configuration = space::FromJson(space, json);
  if (configuration && !space.Contains(*configuration)) {
    return Error{"the constraints do not allow this configuration"};
  }
  return configuration;
}

}  // namespace bayloom::fleet

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bayloom/base/result.h"
#include "bayloom/measure/protocol.h"

namespace bayloom::measure {

// A compiled program as workers get it: a shared library (codegen/shared_library.h), and the forms
// in which it wants its parameters.
//
//     {"symbol": "kernel", "library": BASE64, "workspace": [SHARED, OF_EACH_THREAD],
//      "layouts": [[[DIMENSION, STRIDE, EXTENT], ...], ...],
//      "transforms": [null, {"shape": [3, 3], "matrices": [[...], ...]}, ...]}

/// Threads, timing and what else a message says of its run are left out.
nlohmann::json KernelToJson(const TrialMessage& kernel);

/// Fails, saying what is wrong, unless the JSON is that of a kernel with so many parameters, each
/// packed along axes that have a place and an extent. What the library does is not looked at.
Result<TrialMessage> KernelFromJson(const nlohmann::json& json, size_t parameters);

}  // namespace bayloom::measure

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::scheduling {

/// What runs go by that do not say otherwise (see TaskSchedulers). Where nothing is known of tasks
/// before their first trials, as of scenarios and of layers, it chooses as "gradient".
inline constexpr const char* kDefaultScheduler = "expected-improvement";

}  // namespace bayloom::scheduling

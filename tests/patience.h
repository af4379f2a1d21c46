// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom {

/// What tests allow where something has to end at once: far more than it takes on a busy machine,
/// and less than it would take if it did not work.
inline constexpr double kPatienceSeconds = 30;

}  // namespace bayloom

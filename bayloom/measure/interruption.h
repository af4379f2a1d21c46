// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

namespace bayloom::measure {

/// Asked often while building and running; once true, what runs is ended and Interrupted thrown.
/// May be empty: it is never stopped.
using StopCheck = std::function<bool()>;

/// Thrown where a StopCheck said so: what was under way has been ended and has no outcome.
struct Interrupted {};

/// How often it is asked, in seconds.
inline constexpr double kStopCheckInterval = 0.05;

inline void ThrowIfStopped(const StopCheck& stop) {
  if (stop && stop()) throw Interrupted();
}

}  // namespace bayloom::measure

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::remote {

/// In which a worker answers one of the programs that it has: it compiles as many together as it
/// has slots, and computes what the first has to; all of that has limits there.
inline constexpr double kProgramAnswerSeconds = 900;
/// What a worker may take for another trial beside the trial's own limit.
inline constexpr double kAnswerMarginSeconds = 60;

}  // namespace bayloom::remote

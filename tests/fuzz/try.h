// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace bayloom::fuzz {

/// What became of an input.
enum class Verdict {
  kAccepted,
  kRefused,        ///< in one line
  kMachine,        ///< the machine failed, such as by a lack of memory
  kBadMessage,     ///< refused by a message of several lines, too long or not printable
  kInternalError,  ///< an exception that asks for a report
};
inline constexpr int kVerdicts = 5;
/// "accepted", ..., "internal error".
std::string_view ToString(Verdict verdict);

struct Finding {
  Verdict verdict = Verdict::kAccepted;
  std::string message;
};

/// Gives the input to the reader.
Finding Try(const std::string& input);

}  // namespace bayloom::fuzz

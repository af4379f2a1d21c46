// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <vector>

namespace bayloom::run {

/// What a run learns from before its first trial: what is named, and no more (docs/learning.md).
struct LearnFrom {
  bool earlier = false;                 ///< earlier runs that its own database has
  bool store = false;                   ///< the user's store
  std::vector<std::string> files = {};  ///< databases of such runs, and what else a command reads

  bool operator==(const LearnFrom&) const = default;

  /// Reads "off", "earlier", "store" and names of files; ./off is a file. Throws InputError for
  /// "off" beside others.
  static LearnFrom Parse(std::span<const std::string> words);
  /// The same words.
  std::vector<std::string> Words() const;
  /// As a sentence names them: "off", "earlier, a.db".
  std::string Text() const;

  bool IsOff() const { return !earlier && !store && files.empty(); }
  /// Of a run of a command that learns from databases alone: `files`, and with `earlier` its own
  /// one, if that is there. Throws InputError where it has none (`own` is empty), and for `store`.
  std::vector<std::string> FilesWith(const std::string& own) const;
};

}  // namespace bayloom::run

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "bayloom/record/database.h"

namespace bayloom::record {

/// What a build of the program chose without measuring, as texts under hashes of all that a choice
/// depends on, in a database of records. Choices of other builds are forgotten.
///
/// Failures are those of Database. All methods may be called from any thread.
class ChoiceStore {
 public:
  /// `build`: a hash of the program that chooses.
  ChoiceStore(const std::string& path, Database::Mode mode, uint64_t build);

  std::optional<std::string> Find(uint64_t key);
  /// Replaces what is kept under the key.
  void Keep(uint64_t key, const std::string& choice);

 private:
  std::mutex mutex_;
  Database database_;
  const int64_t build_;
};

}  // namespace bayloom::record

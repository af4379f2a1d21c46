// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/choice_store.h"

#include "bayloom/record/schema.h"

namespace bayloom::record {

ChoiceStore::ChoiceStore(const std::string& path, Database::Mode mode, uint64_t build)
    : database_(path, mode), build_(static_cast<int64_t>(build)) {
  Migrate(database_, StoreMigrations());
}

std::optional<std::string> ChoiceStore::Find(uint64_t key) {
  const std::lock_guard lock(mutex_);
  Rows rows = database_.Prepared("SELECT choice FROM choices WHERE key = ? AND build = ?")
                  .Start(static_cast<int64_t>(key), build_);
  if (!rows.Step()) return std::nullopt;
  return std::string(rows.Text(0));
}

void ChoiceStore::Keep(uint64_t key, const std::string& choice) {
  const std::lock_guard lock(mutex_);
  Transaction transaction(database_);
  database_.Prepared("DELETE FROM choices WHERE build <> ?").Run(build_);
  database_.Prepared("INSERT OR REPLACE INTO choices (key, build, choice) VALUES (?, ?, ?)")
      .Run(static_cast<int64_t>(key), build_, choice);
  transaction.Commit();
}

}  // namespace bayloom::record

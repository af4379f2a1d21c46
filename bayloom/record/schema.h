// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "bayloom/record/database.h"

namespace bayloom::record {

/// One step of the schema's history: SQL that turns version `version - 1` into `version`. Steps
/// that have been released are never edited; a change is a new step at the end.
struct Migration {
  int version;
  const char* sql;
};

/// The schema of the store, from an empty file on.
std::span<const Migration> StoreMigrations();

/// Brings the database to the last version, step by step, each one whole or not at all. Of a
/// read-only database a private copy is brought there (see Database::MakePrivateCopy), and the file
/// stays as it is. Throws InputError if the file belongs to another program or to a newer version
/// of this one. Steps may use `exact_text(x)`, see ExactText.
void Migrate(Database& database, std::span<const Migration> migrations);

}  // namespace bayloom::record

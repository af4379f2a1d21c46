// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/record/program_pool.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// The groups of a pool: how many tasks each has and how many programs may be measured of them.
/// Tasks in no group are a group without a name. Empty if the database has no pool.
Table PoolTable(record::ProgramPool& pool);

}  // namespace bayloom::report

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/base/thread_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/tuning/session.h"
#include "bayloom/tuning/user_store.h"

namespace bayloom::tuning {

/// Keeps the best programs of a session of `records`, and what others can learn from, for all of
/// the user's models.
void KeepPrograms(const Session& session, const std::string& name, record::Store& records,
                  UserStore& store, base::ThreadPool& pool);

}  // namespace bayloom::tuning

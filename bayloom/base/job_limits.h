// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace bayloom::base {

/// What one of several jobs that run at the same time needs.
struct JobNeeds {
  int open_files = 0;  ///< descriptors in this process
  int processes = 0;   ///< and threads, of this process and of what it starts
};

/// Makes room for `jobs` of them: raises this process's soft limit of open files where it is too
/// low. Throws InputError where that many fit neither the hard limit nor the processes that this
/// machine can have, naming the number that does. One job is never refused.
void ReserveJobs(int64_t jobs, const JobNeeds& each);

/// The soft limit of open files that this process was started with, which is what its children get;
/// 0 as long as it has not been changed.
int64_t OpenFilesOfChildren();

}  // namespace bayloom::base

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/record/store.h"

namespace bayloom::record {

/// Trials without a value whose reason is a trouble of the machine: no further process, open file
/// or shared memory, or a process that the system killed for memory. Earlier versions recorded such
/// trials as if the candidates had failed, so that they are not tried again.
struct MachineFailure {
  RunId run = 0;
  std::string reason;  ///< as it was recorded
  int64_t trials = 0;
};

/// By run, then by reason.
std::vector<MachineFailure> FindMachineFailures(Store& store);

/// The state of a run (RunRecord::state) without the trials of these ordinals, ascending.
using StateEdit = std::function<std::string(const RunRecord&, std::span<const int64_t>)>;

/// Takes them out, so that their runs try those candidates again when resumed: the other
/// trials of a run move up, its state is what `edit` makes of it, and it counts as unfinished. All
/// or nothing. Returns how many were taken out.
int64_t RemoveMachineFailures(Store& store, const StateEdit& edit);

}  // namespace bayloom::record

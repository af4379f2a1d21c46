// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace bayloom::base {

/// The folder of the control group (cgroup v2) that this process is in, if it may create others
/// below it, else empty. Looked up once; groups there whose guards are dead are then removed with
/// all that is in them.
const std::string& ControlGroupParent();

/// Where a process finds its own group of version 2: the folder that `mounts` (as
/// /proc/self/mountinfo) and `groups` (as /proc/self/cgroup) say, or empty if none of the mounts
/// shows it.
std::string ControlGroupFolder(std::string_view mounts, std::string_view groups);

/// Kills what is in this group and removes it if it is this user's and its guard is dead, which its
/// lock shows: what a dying guard has just started may hold the lock for a moment longer, so it is
/// asked for as often, every 10 ms. Whether it is gone.
bool RemoveControlGroupIfDead(const std::string& path, int attempts);

/// Removes from `parent` the groups of guards that are dead: those of this user that are not
/// locked. How many.
int RemoveDeadControlGroups(const std::string& parent);

}  // namespace bayloom::base

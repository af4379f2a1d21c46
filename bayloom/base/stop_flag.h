// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::base {

/// A request to stop, from the keyboard (SIGINT), the system (SIGTERM) or the program itself.
/// Long work looks at `StopRequested` between its steps and ends in order.

/// From now on the first SIGINT or SIGTERM sets the flag; the second ends the process as usual. So
/// does the first where NoticeStop was not called within kStopSeconds: code that is busy with
/// something else for longer must not need to end in order (runs do not: every trial is durable).
void CatchStopSignals(const char* message = "stopped\n");

inline constexpr double kStopSeconds = 0.9;

/// To be called by who has seen the flag and ends in order within kStopSeconds.
void NoticeStop();

/// The signal that asked for the end that is noticed (SIGINT where the program itself did); 0 as
/// long as it was not noticed.
int NoticedStopSignal();

bool StopRequested();

/// Sets the flag as a signal would.
void RequestStop();

/// Takes the request back.
void ClearStop();

}  // namespace bayloom::base

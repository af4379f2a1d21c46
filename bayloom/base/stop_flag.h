#pragma once

namespace bayloom {

/// A request to stop, from the keyboard (SIGINT), the system (SIGTERM) or the program itself.
/// Long work looks at `StopRequested` between its steps and ends in order.

/// From now on the first SIGINT or SIGTERM sets the flag; the second ends the process as usual.
void CatchStopSignals();

bool StopRequested();

/// Sets the flag as a signal would.
void RequestStop();

/// Takes the request back.
void ClearStop();

}  // namespace bayloom

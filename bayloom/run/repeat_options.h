// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::run {

/// How the best few candidates of a run are measured again at its end, so that a lucky measurement
/// does not decide: in rounds, in each of which every candidate is measured once. What the machine
/// does meanwhile then affects all of them alike.
struct RepeatOptions {
  int candidates = 0;  ///< of each task at most; 0: nothing is measured again
  int rounds = 3;
};

/// How far the measurements at the end of a run have got.
struct RepeatStatus {
  int done = 0;
  int all = 0;  ///< tasks of a tuning, evaluations of a search
};

}  // namespace bayloom::run

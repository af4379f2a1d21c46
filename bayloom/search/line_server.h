// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "bayloom/search/study.h"

namespace bayloom::search {

/// Drives a search for a program that evaluates configurations itself, in any language: one
/// JSON object a line, each answered by one.
///
///     {"ask": 2}                                    -> {"configurations": [{...}, {...}]}
///     {"tell": {...}, "value": 1.5}                 -> {"trials": 1, "best": {...}}
///     {"tell": {...}, "feasible": false, "reason": "..."}
///     {"best": true}                                -> {"trials": 1, "best": {...}}
///
/// "value" may go by the objective's name. An ask for which there are no more configurations, or
/// no more trials in the budget, gets a shorter list. What cannot be used is answered by
/// {"error": "..."} and changes nothing.
class LineServer {
 public:
  /// `study` must outlive this.
  LineServer(const Scenario& scenario, Study& study);

  /// The answer to one line, without the line's end. Throws what the study's store throws.
  std::string Answer(std::string_view line);

 private:
  const Scenario& scenario_;
  Study& study_;
  double earlier_;  ///< seconds of earlier runs
  double begun_;
};

}  // namespace bayloom::search

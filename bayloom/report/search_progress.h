#pragma once

#include <cstdio>
#include <string>

#include "bayloom/external/search.h"

namespace bayloom {

/// Follows a search, for people: on a terminal a line that changes with every trial; everywhere a
/// line for every better configuration, and one now and then while there is none.
class SearchProgress {
 public:
  /// `objective` names the value. Both referents must outlive this.
  SearchProgress(std::FILE* out, const Search& search, const SearchLimits& limits,
                 std::string objective);

  void Trial();
  /// Clears the changing line.
  void End();

 private:
  std::string Line() const;

  std::FILE* out_;
  const Search& search_;
  const SearchLimits& limits_;
  std::string objective_;
  bool is_terminal_;
  int64_t first_trial_;      ///< trials of earlier runs
  double first_elapsed_;     ///< seconds of earlier runs
  int64_t shown_best_ = -1;  ///< ordinal of the best when last shown
  double shown_at_ = 0;
  bool has_header_ = false;
};

/// Seconds until the first limit is reached if trials go on as fast as in this run, which began
/// after `first_trial` trials and `first_elapsed` seconds; infinity while nothing is known.
double SecondsLeft(const Search& search, const SearchLimits& limits, int64_t first_trial,
                   double first_elapsed);

}  // namespace bayloom

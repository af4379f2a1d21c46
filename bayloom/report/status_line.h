#pragma once

#include <cstdio>
#include <string>

namespace bayloom {

/// Says how far long work has got: on a terminal one line that is written over, elsewhere (a log
/// file) a line of its own every half minute.
class StatusLine {
 public:
  explicit StatusLine(std::FILE* out);
  /// Clears the terminal's line.
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// May be called as often as there is news: most of it is not shown.
  void Show(const std::string& text);
  /// A line that stays.
  void Keep(const std::string& text);

 private:
  std::FILE* out_;
  bool is_terminal_;
  double shown_at_;
};

}  // namespace bayloom

#pragma once

#include <cstdint>
#include <string>

namespace bayloom {

struct ShowSearchOptions {
  std::string database;
  int64_t search = 0;
  bool history = false;
  bool json = false;
  std::string chart;  ///< file to draw into instead
};

/// One search of a database: its best configuration, its history or its chart.
void ShowSearch(const ShowSearchOptions& options);

}  // namespace bayloom

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace bayloom {

/// What a benchmark program measured, for docs/performance.md (benchmarks/README.md describes the
/// file's fields).
struct BenchmarkResult {
  std::string title;
  std::map<std::string, std::string> peers;  ///< versions of the tools compared with, by name
  std::string note;                          ///< what a reader has to know; may be empty
  /// An array of objects, whose fields are named with their units: {"bayloom_us": 8.1}.
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
};

/// Writes the result with today's date, this machine, the commit of the working directory's tree
/// and the command line, and replaces what was at the path. Throws InputError if it cannot be
/// written.
void WriteResult(const std::string& path, const BenchmarkResult& result, int argc,
                 const char* const* argv);

}  // namespace bayloom

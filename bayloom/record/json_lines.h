#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "bayloom/record/store.h"

namespace bayloom {

/// Records as text, one JSON object a line: to look at, to carry to another machine, to merge.
///
///     {"type": "header", "format": "bayloom-records", "version": 1}
///     {"type": "target", "hash": "0123456789abcdef", "target": {...}}
///     {"type": "task", "hash": "...", "workload": {...}}
///     {"type": "session", "uuid": "...", "target": "<hash>", "seed": 1, ...}
///     {"type": "trial", "session": "<uuid>", "task": "<hash>", "ordinal": 0, ...}
///     {"type": "metric", "session": "<uuid>", "task": "<hash>", "batch": 0, ...}
///     {"type": "search", "uuid": "...", "scenario": "...", "seed": 1, ...}
///     {"type": "search_trial", "search": "<uuid>", "ordinal": 0, "configuration": {...}, ...}
///
/// An object comes after those it refers to.
void ExportJsonLines(Store& store, std::ostream& out);

struct ImportSummary {
  int64_t added = 0;    ///< new trials
  int64_t present = 0;  ///< trials the store had already
};

/// Adds what the store does not have yet; importing twice changes nothing. All or nothing: a bad
/// line throws an InputError that names `source` and the line, and the store stays as it was.
ImportSummary ImportJsonLines(Store& store, std::istream& in, const std::string& source);

}  // namespace bayloom

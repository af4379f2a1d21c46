// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "bayloom/record/store.h"

namespace bayloom::record {

/// Records as text, one JSON object a line: to look at, to carry to another machine, to merge.
///
///     {"type": "header", "format": "bayloom-records", "version": 1}
///     {"type": "target", "hash": "0123456789abcdef", "target": {...}, "machine": {...}}
///     {"type": "task", "hash": "...", "workload": {...}}
///     {"type": "pool_group", "name": "resnet18.onnx", "task": "<hash>", "weight": 2}
///     {"type": "pool_chunk", "task": "<hash>", "first": 0, "programs": "<base64>", ...}
///     {"type": "samples", "task": "<hash>", "target": "<hash>", "measurements": "<base64>", ...}
///     {"type": "model", "hash": "...", "target": "<hash>", "bytes": "<base64>", ...}
///     {"type": "session", "uuid": "...", "kind": "tune", "target": "<hash>", "seed": 1, ...}
///     {"type": "trial", "session": "<uuid>", "task": "<hash>", "ordinal": 0, ...}
///     {"type": "metric", "session": "<uuid>", "task": "<hash>", "batch": 0, ...}
///     {"type": "search", "uuid": "...", "kind": "map", "scenario": "...", "seed": 1, ...}
///     {"type": "search_trial", "search": "<uuid>", "ordinal": 0, "configuration": {...}, ...}
///     {"type": "repeat", "run": "<uuid>", "of": "<uuid>", "ordinal": 0, "round": 0, ...}
///
/// A run of kind tune or dataset is a `session`, one of kind search or map a `strategy`; a trial of
/// a schedule is a `trial`, any other a `search_trial`. An object comes after those it refers to.
/// Lines written before there were kinds lack some of the fields and are read as well.
///
/// Everything the store holds is written; importing it into an empty store and exporting that gives
/// the same text. Throws SystemError if the stream fails; its owner flushes and checks it.
void ExportJsonLines(Store& store, std::ostream& out);

struct ImportSummary {
  int64_t added = 0;          ///< new trials
  int64_t present = 0;        ///< trials the store had already
  int64_t pool_programs = 0;  ///< new programs of pools
  int64_t samples = 0;        ///< new samples for cost models
};

/// Adds what the store does not have yet; importing twice changes nothing. All or nothing: a bad
/// line throws an InputError that names `source` and the line, and the store stays as it was.
/// Samples and models of features that another version extracted are left out.
ImportSummary ImportJsonLines(Store& store, std::istream& in, const std::string& source);

}  // namespace bayloom::record

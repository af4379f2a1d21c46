// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/cost/throughput_model.h"

namespace bayloom::cost {

// A trained model in a file: one line, then what ThroughputModel::Save gave.
//
//     bayloom-model VERSION NAME BYTES CRC32
//
// Length and checksum (of the name and the bytes, as zlib has it) are compared before a model
// reads the bytes: libraries of others trust what they read.

/// The content of a file for the model.
std::string PackModel(const ThroughputModel& model);
/// The inverse. Fails, saying why, for anything but a whole file of this version.
Result<std::unique_ptr<ThroughputModel>> UnpackModel(std::string_view content);

/// Throws as base::WriteFile does.
void WriteModelFile(const ThroughputModel& model, const std::string& path);
/// Throws InputError of one line where the file cannot be read, is no regular file or holds no
/// whole model.
std::unique_ptr<ThroughputModel> ReadModelFile(const std::string& path);

}  // namespace bayloom::cost

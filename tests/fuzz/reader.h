// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/random.h"

namespace bayloom::fuzz {

// A reader takes what others wrote: a way by which bytes enter the program. Each is a file of
// readers/, which defines the first three functions, and a program fuzz_NAME: with the driver of
// this folder, or as a target of libFuzzer.

/// Inputs that the reader accepts: what mutations begin from, beside the files of corpus/NAME.
std::vector<std::string> Seeds();

/// Has an input read. Throws InputError where it is refused, SystemError where the
/// machine fails; anything else is a finding.
void Read(const std::string& input);

/// The input with its structure changed and its frame (encoding, lengths, checksums) whole; nullopt
/// where the format is text.
std::optional<std::string> MutateStructure(const std::string& input, base::RandomStream& random);

/// An empty folder for files that a reader needs; defined by the program.
const std::string& ScratchPath();

/// Writes the input to a file of the scratch folder; its path.
std::string WriteScratch(const std::string& name, const std::string& input);

}  // namespace bayloom::fuzz

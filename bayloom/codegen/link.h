// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/codegen/data_object.h"
#include "bayloom/target/target.h"

namespace bayloom::codegen {

// Linking, by LLVM's linker in this process: neither a compiler nor a C library for developers has
// to be there. One link at a time; threads wait for each other.

/// What a library becomes.
enum class LibraryForm : uint8_t {
  kShared,   ///< a shared library, which needs the C library (glibc 2.28 or newer) only
  kArchive,  ///< a static library
  kObject,   ///< one relocatable object
};
/// The form of that name ("shared", "static", "object").
std::optional<LibraryForm> ParseLibraryForm(std::string_view name);
/// The name of the file: "libNAME.so", "libNAME.a", "NAME.o".
std::string LibraryFile(LibraryForm form, const std::string& name);

/// What a library consists of, besides the runtime of compiled networks (codegen/runtime), which
/// comes for the processors whose kind was known where Bayloom was built.
struct LibraryParts {
  std::string folder;                   ///< where the objects are, and the library will be
  std::vector<std::string> objects;     ///< relocatable ones, by their names in the folder
  std::vector<const DataObject*> data;  ///< finished, in the folder; their symbols are no other's
  std::vector<std::string> functions;   ///< all that can be called from outside
  target::TargetKind kind = target::TargetKind::kX86_64;
};

/// Writes the library, whose path is returned; what the functions do not need is left out of shared
/// ones. Throws InputError for processors that there is no runtime for, SystemError, with what the
/// linker says, where it fails or the disk is full.
std::string LinkLibrary(const LibraryParts& parts, LibraryForm form, const std::string& name);

/// A kernel's relocatable object as a shared library. It names no other one: the functions of the
/// runtime and of the C library that it calls are to be found where it is loaded. Throws
/// SystemError where the linker fails.
std::string LinkSharedLibrary(std::string_view object);

}  // namespace bayloom::codegen

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/codegen/abi.h"

namespace bayloom::codegen {

// Kernels as shared libraries (ELF; link.h makes them): what a process without the compiler can
// load, too, for the system's loader does it.

/// Whether the bytes are those of a shared library; a relocatable object is none.
bool IsSharedLibrary(std::string_view bytes);

/// A kernel of a shared library, loaded into this process. The program must export what kernels
/// call (ENABLE_EXPORTS of its target in CMake).
class LoadedLibrary {
 public:
  /// Fails for a library of another architecture, without the symbol, or with one that is not here.
  static Result<LoadedLibrary> Load(std::string_view bytes, const std::string& symbol);

  LoadedLibrary(LoadedLibrary&& other) noexcept { *this = std::move(other); }
  LoadedLibrary& operator=(LoadedLibrary&& other) noexcept;
  ~LoadedLibrary();

  KernelFunction function() const { return function_; }

 private:
  LoadedLibrary() = default;

  int file_ = -1;  ///< in memory; open as long as its path is a library's name
  void* handle_ = nullptr;
  KernelFunction function_ = nullptr;
};

}  // namespace bayloom::codegen

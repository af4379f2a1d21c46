// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/shared_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "bayloom/base/file.h"
#include "bayloom/base/single_line.h"
#include "bayloom/codegen/library.h"

namespace bayloom::codegen {

bool IsSharedLibrary(std::string_view bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header)) return false;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_DYN;
}

Result<LoadedLibrary> LoadedLibrary::Load(std::string_view bytes, const std::string& symbol) {
  const auto failed = [&](const std::string& why) {
    return Error{fmt::format("cannot load '{}': {}", symbol, base::SingleLine(why))};
  };
  (void)RuntimeKernels();  // what libraries call is part of every program that loads them
  LoadedLibrary library;
  library.file_ = memfd_create("bayloom-kernel", MFD_CLOEXEC);
  if (library.file_ < 0) return failed(std::strerror(errno));
  if (const int error = base::WriteAll(library.file_, bytes); error != 0) {
    return failed(std::strerror(error));
  }
  library.handle_ =
      dlopen(fmt::format("/proc/self/fd/{}", library.file_).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle_ == nullptr) return failed(dlerror());
  void* const function = dlsym(library.handle_, symbol.c_str());
  if (function == nullptr) return failed("it is not in the library");
  library.function_ = reinterpret_cast<KernelFunction>(function);
  return library;
}

LoadedLibrary& LoadedLibrary::operator=(LoadedLibrary&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(handle_, other.handle_);
  std::swap(function_, other.function_);
  return *this;
}

LoadedLibrary::~LoadedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
  if (file_ >= 0) close(file_);
}

}  // namespace bayloom::codegen

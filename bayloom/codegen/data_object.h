// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bayloom/base/descriptor.h"
#include "bayloom/target/target.h"

namespace bayloom::codegen {

/// Bytes of a library, such as its weights, as a relocatable object (ELF). They go to the file as
/// they come, so that none is in memory longer than it takes to write it. All functions throw
/// SystemError where the disk fails.
class DataObject {
 public:
  /// The bytes begin at `symbol`, at a multiple of 64.
  DataObject(std::string path, std::string symbol, target::TargetKind kind);

  void Append(std::string_view bytes);
  /// Whether these bytes are there.
  bool IsAt(int64_t position, std::string_view bytes) const;
  /// Completes the object: nothing can be appended any more.
  void Finish();

  const std::string& path() const { return path_; }
  const base::Descriptor& file() const { return file_; }
  int64_t bytes() const { return bytes_; }
  /// In the file.
  static int64_t Begin();
  /// Of the bytes in objects and libraries.
  std::string SectionName() const { return "." + symbol_; }

  /// An object as this one is, for a linker that is to leave room for the bytes and not to see
  /// them.
  void WritePlaceholder(const std::string& path) const;

 private:
  std::string Tail(bool is_placeholder) const;
  [[noreturn]] void Fail(int error) const;

  std::string path_, symbol_;
  target::TargetKind kind_;
  base::Descriptor file_;
  int64_t bytes_ = 0;
};

/// Fills a shared library that was linked with placeholders with the bytes that they stand for: in
/// the file, what is behind the room that was left for them moves on. None are in memory as a
/// whole.
void FillPlaceholders(const std::string& library, std::span<const DataObject* const> data);

}  // namespace bayloom::codegen

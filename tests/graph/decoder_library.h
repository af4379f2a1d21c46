// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "bayloom/graph/tasks.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {

/// The compiled library of a decoder, called net, with a shape for each network; loaded.
class DecoderLibrary {
 public:
  explicit DecoderLibrary(const std::vector<const TaskGraph*>& shapes);
  ~DecoderLibrary();

  /// It lives as long as the library.
  void* NewModel() const;
  int Step(void* model, const std::vector<int64_t>& ids, float* logits) const;
  size_t Length(void* model) const;
  int Rewind(void* model, size_t length) const;
  int Copy(void* from, void* to) const;
  /// Null where the library has none.
  template <typename F>
  F Function(const char* name) const {
    return reinterpret_cast<F>(Symbol(name));
  }

 private:
  void* Symbol(const char* name) const;

  const TemporaryFolder folder_;
  void* library_ = nullptr;
  mutable std::vector<void*> models_;
};

}  // namespace bayloom::graph

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "bayloom/codegen/data_object.h"
#include "bayloom/graph/network_plan.h"

namespace bayloom::graph {

/// The constants of a library's plans in an object for its linker; what is equal is there once.
class ConstantObject : public ConstantSink {
 public:
  /// Throws SystemError where the file cannot be created.
  ConstantObject(std::string path, std::string symbol, target::TargetKind kind);

  /// Throws SystemError where the disk fails.
  int64_t Add(std::span<const std::byte> constant) override;
  void Finish() { object_.Finish(); }

  const codegen::DataObject& object() const { return object_; }

 private:
  codegen::DataObject object_;
  std::multimap<size_t, int64_t> positions_;  // by hashes
};

}  // namespace bayloom::graph

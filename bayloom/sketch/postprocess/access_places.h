// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/program.h"

namespace bayloom::sketch {

/// Where accesses of a program are in memory, as long as it does not change: an intermediate's
/// allocation is found once, however many accesses it has (transforms have dozens).
class AccessPlaces {
 public:
  explicit AccessPlaces(const tensor::Program& program) : program_(program) {}

  /// tensor::LinearOffset, in intermediates within what is allocated of them.
  std::optional<tensor::Affine> Of(const tensor::Access& access) {
    return tensor::LinearOffset(program_, access, AllocationOf(access.buffer));
  }

 private:
  /// nullptr for what is no intermediate.
  const tensor::Allocation* AllocationOf(tensor::BufferId buffer) {
    if (program_.buffers[buffer].role != tensor::BufferRole::kIntermediate) return nullptr;
    const auto known = allocations_.find(buffer);
    if (known != allocations_.end()) return &known->second;
    return &allocations_.emplace(buffer, tensor::AllocationOf(program_, buffer)).first->second;
  }

  const tensor::Program& program_;
  std::map<tensor::BufferId, tensor::Allocation> allocations_;
};

}  // namespace bayloom::sketch

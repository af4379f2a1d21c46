// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "bayloom/graph/tasks.h"
#include "bayloom/tensor/program.h"

namespace bayloom::tuning {

/// The forms in which the networks of one library read their large constants: where a further
/// network reads them alike, both share one copy.
class ConstantForms {
 public:
  /// Adds what the network's programs read; `programs` are parallel to its tasks.
  void Add(const graph::TaskGraph& network, std::span<const tensor::Program* const> programs);

  /// What programs have to read alike.
  struct Wanted {
    std::function<bool(const tensor::Program&)> is_alike;
    uint64_t key = 0;  ///< tells the forms from others
  };
  /// Of the constants of a task's calls; nullopt where no form is known of them, or several are.
  std::optional<Wanted> Of(const graph::TaskGraph& network, const graph::GraphTask& task) const;

 private:
  /// Hashes of a constant's shape and content.
  using Key = std::pair<uint64_t, size_t>;
  static Key KeyOf(const tensor::HostTensor& constant);

  std::map<Key, uint64_t> forms_;  ///< hashes of layout and transform
};

}  // namespace bayloom::tuning

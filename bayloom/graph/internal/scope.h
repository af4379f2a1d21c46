// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/graph/internal/onnx_tensor.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::graph {

/// What reads a value that a survey knows nothing of.
class OpaqueValue : public std::exception {};

/// Tensors by the names of the graph or function they are in; inner graphs see outer names.
class Scope {
 public:
  explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}

  const tensor::Tensor* Find(const std::string& name) const {
    for (const Scope* scope = this; scope; scope = scope->outer_) {
      const auto found = scope->tensors_.find(name);
      if (found != scope->tensors_.end()) return &found->second;
      if (scope->opaque_.contains(name)) throw OpaqueValue();
    }
    return nullptr;
  }
  /// The tensor of that name; throws InputError if there is none. `what` is what it is used as.
  tensor::Tensor Lookup(const std::string& name, const char* what) const {
    const tensor::Tensor* tensor = Find(name);
    if (!tensor) throw InputError(fmt::format("{} '{}' is not defined", what, Printable(name)));
    return *tensor;
  }
  void Define(const std::string& name, tensor::Tensor tensor) {
    if (!tensors_.emplace(name, std::move(tensor)).second) {
      throw InputError(fmt::format("'{}' is defined twice", Printable(name)));
    }
  }
  /// The name is there, but nothing else is known: reading it throws OpaqueValue.
  void DefineOpaque(const std::string& name) { opaque_.insert(name); }
  bool HasOwn(const std::string& name) const {
    return tensors_.contains(name) || opaque_.contains(name);
  }

 private:
  const Scope* outer_;
  std::unordered_map<std::string, tensor::Tensor> tensors_;
  std::unordered_set<std::string> opaque_;
};

}  // namespace bayloom::graph

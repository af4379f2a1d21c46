// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <unordered_map>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/graph/import/named_value.h"
#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::graph {

/// What reads a value that a survey knows nothing of.
class OpaqueValue : public std::exception {};

/// Values by the names of the graph or function they are in; inner graphs see outer names.
class Scope {
 public:
  explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}

  /// Null: there is no such name.
  const NamedValue* Find(const std::string& name) const {
    for (const Scope* scope = this; scope; scope = scope->outer_) {
      const auto found = scope->values_.find(name);
      if (found != scope->values_.end()) return &found->second;
    }
    return nullptr;
  }
  /// The value of that name. Throws InputError if there is none, OpaqueValue if nothing is known of
  /// it. `what` is what it is used as.
  const NamedValue& Lookup(const std::string& name, const char* what) const {
    const NamedValue* value = Find(name);
    if (!value) throw InputError(fmt::format("{} '{}' is not defined", what, Printable(name)));
    if (value->IsOpaque()) throw OpaqueValue();
    return *value;
  }
  /// The same for what has to be a tensor.
  tensor::Tensor LookupTensor(const std::string& name, const char* what) const {
    const NamedValue& value = Lookup(name, what);
    if (value.tensor) return *value.tensor;
    throw InputError(
        fmt::format("{} '{}' is a sequence; only tensors are supported", what, Printable(name)));
  }
  void Define(const std::string& name, NamedValue value) {
    if (!values_.emplace(name, std::move(value)).second) {
      throw InputError(fmt::format("'{}' is defined twice", Printable(name)));
    }
  }
  /// The name is there, but nothing is known but its type.
  void DefineOpaque(const std::string& name, int type = 0) {
    values_.emplace(name, NamedValue{.type = type});
  }
  bool HasOwn(const std::string& name) const { return values_.contains(name); }
  /// The values of this scope alone.
  std::unordered_map<std::string, NamedValue> TakeOwn() { return std::move(values_); }

 private:
  const Scope* outer_;
  std::unordered_map<std::string, NamedValue> values_;
};

}  // namespace bayloom::graph

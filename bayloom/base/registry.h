// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"

namespace bayloom::base {

/// "unknown KIND 'NAME'; known are A, B".
std::string UnknownName(std::string_view kind, std::string_view name,
                        const std::vector<std::string>& known);

/// The variants of one concept (strategies, schedulers, ...) by name.
///
/// A module lists the stable variants, those that users choose from. Programs and other modules
/// add experimental ones when they start, by an explicit call: these are made by name as the others
/// are, but listed apart and not named in refusals.
///
///     Registry<TaskSchedulerMaker>& schedulers = scheduling::TaskSchedulers();
///     schedulers.RegisterExperimental({"mine", "what it does", MakeMine});
///     schedulers.At("mine").make(options);
///
/// Any thread may call any function at any time.
template <typename Maker>
class Registry {
 public:
  struct Variant {
    std::string name;
    std::string summary;  ///< what it does, in one line without a final period
    Maker make;
  };

  /// `kind` is what messages call a variant: "strategy".
  Registry(std::string kind, std::vector<Variant> stable)
      : kind_(std::move(kind)), stable_(std::move(stable)) {}

  /// Adds an experimental variant, or replaces the one of its name. Throws std::logic_error for the
  /// name of a stable variant.
  void RegisterExperimental(Variant variant) {
    if (FindIn(stable_, variant.name) != nullptr) {
      throw std::logic_error("the stable " + kind_ + " '" + variant.name +
                             "' was registered again");
    }
    const std::unique_lock lock(mutex_);
    std::erase_if(experimental_, [&](const Variant& v) { return v.name == variant.name; });
    experimental_.push_back(std::move(variant));
  }

  /// What makes the variant of this name, stable or experimental. Throws InputError for an unknown
  /// name.
  Maker At(std::string_view name) const {
    const std::shared_lock lock(mutex_);
    const Variant* found = Find(name);
    if (found == nullptr) throw InputError(Unknown(name));
    return found->make;
  }

  /// Whether At knows the name; if not, why.
  Status Check(std::string_view name) const {
    const std::shared_lock lock(mutex_);
    if (Find(name) == nullptr) return Error{Unknown(name)};
    return Ok();
  }

  /// The stable names, in the order in which the module lists them.
  std::vector<std::string> Names() const { return NamesOf(stable_); }
  /// The experimental names, in the order in which they were registered.
  std::vector<std::string> ExperimentalNames() const {
    const std::shared_lock lock(mutex_);
    return NamesOf(experimental_);
  }
  /// All names, the stable ones first.
  std::vector<std::string> AllNames() const {
    std::vector<std::string> names = Names();
    for (std::string& name : ExperimentalNames()) names.push_back(std::move(name));
    return names;
  }
  /// What the variant does, in one line. Throws InputError for an unknown name.
  std::string SummaryOf(std::string_view name) const {
    const std::shared_lock lock(mutex_);
    const Variant* found = Find(name);
    if (found == nullptr) throw InputError(Unknown(name));
    return found->summary;
  }

 private:
  static const Variant* FindIn(const std::vector<Variant>& variants, std::string_view name) {
    const auto found = std::ranges::find(variants, name, &Variant::name);
    return found == variants.end() ? nullptr : &*found;
  }

  const Variant* Find(std::string_view name) const {
    const Variant* stable = FindIn(stable_, name);
    return stable != nullptr ? stable : FindIn(experimental_, name);
  }

  static std::vector<std::string> NamesOf(const std::vector<Variant>& variants) {
    std::vector<std::string> names;
    for (const Variant& variant : variants) names.push_back(variant.name);
    return names;
  }

  std::string Unknown(std::string_view name) const {
    return UnknownName(kind_, name, NamesOf(stable_));
  }

  const std::string kind_;
  const std::vector<Variant> stable_;
  mutable std::shared_mutex mutex_;  ///< of experimental_
  std::vector<Variant> experimental_;
};

}  // namespace bayloom::base

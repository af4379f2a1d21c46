// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/found_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"

namespace bayloom::graph {
namespace {

constexpr size_t kMaxSymbols = 1024;

/// What a user may call it.
std::array<std::string, 3> NamesOf(const FoundRequest& request) {
  const bool is_count = request.dimension == FoundRequest::kNoDimension;
  return {
      request.dimension_name, request.tensor,
      fmt::format("{}.{}", request.tensor, is_count ? "count" : std::to_string(request.dimension))};
}

/// "the length of dimension 1 of 'y'"
std::string Described(const FoundRequest& request) {
  const std::string tensor = base::SingleLine(request.tensor);
  return request.dimension == FoundRequest::kNoDimension
             ? fmt::format("a count that '{}' depends on", tensor)
             : fmt::format("the length of dimension {} of '{}'", request.dimension, tensor);
}

}  // namespace

std::string ToString(FoundBound::Source source) {
  switch (source) {
    case FoundBound::Source::kShapes:
      return "shapes";
    case FoundBound::Source::kModel:
      return "model";
    case FoundBound::Source::kUser:
      break;
  }
  return "user";
}

void FoundLengths::BeginFirst(std::span<const Symbol> others) {
  all_.clear();
  symbols_.clear();
  taken_names_.clear();
  for (const Symbol& symbol : others) taken_names_.insert(symbol.name);
  first_symbol_ = static_cast<int>(others.size());
  next_ = 0;
  is_first_ = true;
}

void FoundLengths::Begin(std::span<const int64_t> lengths) {
  next_ = 0;
  is_first_ = false;
  for (FoundBound& found : all_) {
    if (found.symbol >= 0)
      found.length = lengths[static_cast<size_t>(found.symbol - first_symbol_)];
  }
}

const FoundBound& FoundLengths::Next(const FoundRequest& request) {
  if (!is_first_) {
    if (next_ == all_.size()) {
      throw InputError(
          fmt::format("'{}' is found for some lengths only", base::SingleLine(request.tensor)));
    }
    return all_[next_++];
  }
  all_.push_back(First(request));
  return all_.back();
}

/// The dimension's name in the model, the tensor's, or that with the dimension: the first that no
/// other has.
std::string FoundLengths::NameOf(const FoundRequest& request) const {
  for (const std::string& name : NamesOf(request)) {
    if (!name.empty() && !taken_names_.contains(name)) return name;
  }
  for (int other = 2;; ++other) {
    const std::string name = fmt::format("{}.{}#{}", request.tensor, request.dimension, other);
    if (!taken_names_.contains(name)) return name;
  }
}

std::optional<int64_t> FoundLengths::GivenFor(const FoundRequest& request) const {
  for (const std::string& name : NamesOf(request)) {
    const auto bound = bounds_.find(name);
    if (bound != bounds_.end()) return bound->second;
  }
  return std::nullopt;
}

int64_t FoundLengths::CapacityFor(const FoundRequest& request) const {
  const bool is_known = !is_first_ && next_ < all_.size() && all_[next_].node == request.node;
  if (is_known) return all_[next_].most;
  return std::min(*request.bound, GivenFor(request).value_or(*request.bound));
}

FoundBound FoundLengths::First(const FoundRequest& request) {
  FoundBound found{
      .name = NameOf(request), .node = request.node, .op = request.op, .least = request.least};
  const std::optional<int64_t> given = GivenFor(request);
  for (const std::string& name : NamesOf(request)) {
    if (bounds_.contains(name)) used_bounds_.insert(name);
  }
  if (given && !(request.bound && *request.bound <= *given)) {
    found.most = *given;
    found.source = FoundBound::Source::kUser;
  } else if (request.bound) {
    found.most = *request.bound;
  } else if (request.stated) {
    found.least = found.most = *request.stated;
    found.source = FoundBound::Source::kModel;
  } else {
    throw InputError(fmt::format(
        "{} is found when the network runs, and no shape bounds it: give a bound for '{}'",
        Described(request), base::SingleLine(found.name)));
  }
  taken_names_.insert(found.name);
  found.length = found.most;
  if (found.least == found.most) return found;
  if (symbols_.size() == kMaxSymbols) {
    throw InputError(
        fmt::format("more than {} lengths are found when the network runs; give "
                    "some of them bounds of 1, or leave nodes out",
                    kMaxSymbols));
  }
  found.symbol = first_symbol_ + static_cast<int>(symbols_.size());
  symbols_.push_back({found.name, found.least, found.most, 1, true});
  return found;
}

void FoundLengths::CheckBounds() const {
  for (const auto& [name, bound] : bounds_) {
    if (used_bounds_.contains(name)) continue;
    std::string found;
    for (const FoundBound& each : all_) {
      found += fmt::format("{} '{}'", found.empty() ? "" : ",", base::SingleLine(each.name));
    }
    throw InputError(fmt::format("no length that is found when the network runs is called '{}'; {}",
                                 base::SingleLine(name),
                                 found.empty() ? "there is none" : "there are" + found));
  }
}

}  // namespace bayloom::graph

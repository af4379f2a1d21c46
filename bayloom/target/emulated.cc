// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/emulated.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace bayloom::target {
namespace {

constexpr std::string_view kVendor = "emulated";

/// Where the vendor is in a triple: its place and its length.
std::pair<size_t, size_t> VendorIn(const std::string& triple) {
  const size_t dash = triple.find('-');
  if (dash == std::string::npos) return {triple.size(), 0};
  return {dash + 1, std::min(triple.find('-', dash + 1), triple.size()) - (dash + 1)};
}

}  // namespace

Target Emulated(Target target) {
  if (IsEmulated(target)) return target;
  const auto [place, length] = VendorIn(target.triple);
  target.triple.replace(place, length, kVendor);
  target.name += " (emulated)";
  return target;
}

bool IsEmulated(const Target& target) {
  const auto [place, length] = VendorIn(target.triple);
  return target.triple.compare(place, length, kVendor) == 0;
}

}  // namespace bayloom::target

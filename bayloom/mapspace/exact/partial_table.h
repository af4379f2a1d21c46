// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace bayloom::mapspace {

/// What partial mappings have to have in common to be compared.
struct PartialKey {
  uint64_t tile = 0;
  uint64_t rest = 0;

  bool operator==(const PartialKey&) const = default;
};

/// Partial mappings by their keys, of which only those are kept that no other one of the same key
/// dominates. A hash table with open addressing of lists: members stand in one vector, in the
/// order in which they came.
template <typename Member>
class PartialTable {
 public:
  std::vector<Member>& members() { return members_; }
  const std::vector<Member>& members() const { return members_; }

  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (size_t i = 0; i < members_.size(); ++i) visit(links_[i].key, members_[i]);
  }

  void Add(const PartialKey& key, Member&& member) {
    int32_t& head = HeadOf(key);
    links_.push_back({key, head});
    head = static_cast<int32_t>(members_.size());
    members_.push_back(std::move(member));
    if (2 * members_.size() > heads_.size()) Grow();
  }

  enum class Insertion : uint8_t { kAdded, kReplaced, kDropped };

  /// Adds the member unless one of its key dominates it; a member that it dominates gives its
  /// place to it.
  template <typename Dominates>
  Insertion AddUndominated(const PartialKey& key, Member&& member, const Dominates& dominates) {
    const int32_t first = Find(key);
    for (int32_t i = first; i >= 0; i = links_[i].next) {
      if (dominates(members_[i], member)) return Insertion::kDropped;
    }
    for (int32_t i = first; i >= 0; i = links_[i].next) {
      if (!dominates(member, members_[i])) continue;
      members_[i] = std::move(member);
      return Insertion::kReplaced;
    }
    Add(key, std::move(member));
    return Insertion::kAdded;
  }

 private:
  struct Link {
    PartialKey key;
    int32_t next;  ///< of the same slot; -1: none
  };

  static uint64_t Mix(const PartialKey& key) {
    uint64_t hash = (key.tile ^ (key.rest * 0x9E3779B97F4A7C15ULL)) * 0xD6E8FEB86659FD93ULL;
    hash ^= hash >> 32;
    return hash * 0xD6E8FEB86659FD93ULL >> 20;
  }

  /// The slot of a key, or the free one where it would stand.
  size_t SlotOf(const PartialKey& key) const {
    size_t slot = Mix(key) & (heads_.size() - 1);
    while (heads_[slot] >= 0 && !(links_[heads_[slot]].key == key)) {
      slot = (slot + 1) & (heads_.size() - 1);
    }
    return slot;
  }
  int32_t Find(const PartialKey& key) const { return heads_[SlotOf(key)]; }
  int32_t& HeadOf(const PartialKey& key) { return heads_[SlotOf(key)]; }

  void Grow() {
    std::vector<int32_t> old(2 * heads_.size(), -1);
    old.swap(heads_);
    for (const int32_t head : old) {
      if (head >= 0) heads_[SlotOf(links_[head].key)] = head;
    }
  }

  std::vector<Member> members_;
  std::vector<Link> links_;
  std::vector<int32_t> heads_ = std::vector<int32_t>(64, -1);
};

}  // namespace bayloom::mapspace

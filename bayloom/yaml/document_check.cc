// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/yaml/document_check.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/base/utf8.h"

namespace bayloom::yaml {
namespace {

using base::kMaxRepeatedValues;
using base::kMaxYamlDepth;

void CheckUtf8(std::string_view text, const TextSource& source) {
  YAML::Mark mark;
  size_t offset = 0;
  while (offset < text.size()) {
    const size_t length = base::Utf8CharacterLength(text.substr(offset));
    if (length == 0) break;
    const bool ends_line = text[offset] == '\n';
    mark.line += ends_line ? 1 : 0;
    mark.column = ends_line ? 0 : mark.column + 1;
    offset += length;
  }
  if (offset == text.size()) return;
  mark.pos = static_cast<int>(offset);
  throw InputError(fmt::format("{}the byte 0x{:02X} is not part of UTF-8 text", source.Place(mark),
                               static_cast<unsigned char>(text[offset])));
}

/// Follows a document's events; throws InputError where it is nested too deep or repeats too much.
class LimitCheck final : public YAML::EventHandler {
 public:
  LimitCheck(const TextSource& source, std::span<const Extent> included)
      : source_(source), included_(included) {}

  /// The document's, once it has ended.
  Extent extent() const { return document_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Leaf(mark, anchor, Extent());
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const int64_t index = tag == kIncludedTag ? IncludedIndex(value, included_.size()) : -1;
    if (index < 0) return Leaf(mark, anchor, Extent());
    Repeat(mark, included_[index]);
    Leaf(mark, anchor, included_[index]);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const bool is_open = std::ranges::any_of(
        open_, [&](const Open& container) { return container.anchor == anchor; });
    if (is_open) Refuse(mark, "an alias stands within what it repeats");
    Repeat(mark, anchored_[anchor]);
    Add(mark, anchored_[anchor]);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Begin(mark, anchor);
  }
  void OnSequenceEnd() override { End(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Begin(mark, anchor);
  }
  void OnMapEnd() override { End(); }

 private:
  struct Open {
    YAML::Mark mark;
    YAML::anchor_t anchor;
    Extent extent;
  };

  [[noreturn]] void Refuse(const YAML::Mark& mark, const std::string& why) const {
    throw InputError(source_.Place(mark) + why);
  }

  void Leaf(const YAML::Mark& mark, YAML::anchor_t anchor, const Extent& value) {
    if (anchor != 0) anchored_[anchor] = value;
    Add(mark, value);
  }
  /// Counts values that stand elsewhere, too.
  void Repeat(const YAML::Mark& mark, const Extent& value) {
    repeated_ += value.values;
    if (repeated_ > kMaxRepeatedValues) {
      Refuse(mark, fmt::format("aliases repeat more than {} values", kMaxRepeatedValues));
    }
  }
  void Begin(const YAML::Mark& mark, YAML::anchor_t anchor) {
    open_.push_back({mark, anchor, {.values = 1, .height = 1}});
    CheckDepth(mark, 0);
  }
  void End() {
    const Open done = open_.back();
    open_.pop_back();
    if (done.anchor != 0) anchored_[done.anchor] = done.extent;
    Add(done.mark, done.extent);
  }
  /// A value of the innermost open list or map.
  void Add(const YAML::Mark& mark, const Extent& value) {
    CheckDepth(mark, value.height);
    if (open_.empty()) {
      document_ = value;
      return;
    }
    Extent& parent = open_.back().extent;
    parent.values += value.values;
    parent.height = std::max(parent.height, value.height + 1);
  }
  void CheckDepth(const YAML::Mark& mark, int height) const {
    if (std::ssize(open_) + height > kMaxYamlDepth) {
      Refuse(mark, fmt::format("nested more than {} deep", kMaxYamlDepth));
    }
  }

  const TextSource& source_;
  std::span<const Extent> included_;
  Extent document_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Extent> anchored_;
  int64_t repeated_ = 0;
};

}  // namespace

int64_t IncludedIndex(const std::string& scalar, size_t count) {
  int64_t index = 0;
  const char* end = scalar.data() + scalar.size();
  const auto [used, error] = std::from_chars(scalar.data(), end, index);
  const bool is_index = error == std::errc() && used == end && index >= 0;
  return is_index && static_cast<size_t>(index) < count ? index : -1;
}

Extent CheckDocument(const std::string& text, const TextSource& source,
                     std::span<const Extent> included) {
  CheckUtf8(text, source);
  // YAML::LoadAll never ends where a stray bracket follows a document.
  std::istringstream in(text);
  YAML::Parser parser(in);
  LimitCheck check(source, included);
  if (!parser.HandleNextDocument(check)) {
    throw InputError(fmt::format("cannot use '{}': it is empty", source.name));
  }
  if (parser.HandleNextDocument(check)) {
    throw InputError(fmt::format("cannot use '{}': something follows after its end", source.name));
  }
  return check.extent();
}

}  // namespace bayloom::yaml

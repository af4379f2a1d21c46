// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/yaml/internal/document_check.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include "bayloom/base/one_line.h"
#include "bayloom/base/result.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/base/utf8.h"

namespace bayloom::yaml {
namespace {

using base::kMaxRepeatedValues;
using base::kMaxYamlDepth;

void CheckUtf8(std::string_view text, const std::string& source) {
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
  throw InputError(fmt::format("{}the byte 0x{:02X} is not part of UTF-8 text", Place(source, mark),
                               static_cast<unsigned char>(text[offset])));
}

/// Follows a document's events; throws InputError where it is nested too deep or repeats too much.
class LimitCheck final : public YAML::EventHandler {
 public:
  explicit LimitCheck(const std::string& source) : source_(source) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { Leaf(mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string&) override {
    Leaf(mark, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const bool is_open = std::ranges::any_of(
        open_, [&](const Open& container) { return container.anchor == anchor; });
    if (is_open) Refuse(mark, "an alias stands within what it repeats");
    const Subtree repeated = anchored_[anchor];
    repeated_ += repeated.values;
    if (repeated_ > kMaxRepeatedValues) {
      Refuse(mark, fmt::format("aliases repeat more than {} values", kMaxRepeatedValues));
    }
    Add(mark, repeated);
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
  /// A value with all within it, aliases followed.
  struct Subtree {
    int64_t values = 1;
    int height = 0;  ///< lists and maps within each other
  };
  struct Open {
    YAML::Mark mark;
    YAML::anchor_t anchor;
    Subtree subtree;
  };

  [[noreturn]] void Refuse(const YAML::Mark& mark, const std::string& why) const {
    throw InputError(Place(source_, mark) + why);
  }

  void Leaf(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) anchored_[anchor] = Subtree();
    Add(mark, Subtree());
  }
  void Begin(const YAML::Mark& mark, YAML::anchor_t anchor) {
    open_.push_back({mark, anchor, {.values = 1, .height = 1}});
    CheckDepth(mark, 0);
  }
  void End() {
    const Open done = open_.back();
    open_.pop_back();
    if (done.anchor != 0) anchored_[done.anchor] = done.subtree;
    Add(done.mark, done.subtree);
  }
  /// A value of the innermost open list or map.
  void Add(const YAML::Mark& mark, const Subtree& value) {
    CheckDepth(mark, value.height);
    if (open_.empty()) return;
    Subtree& parent = open_.back().subtree;
    parent.values += value.values;
    parent.height = std::max(parent.height, value.height + 1);
  }
  void CheckDepth(const YAML::Mark& mark, int height) const {
    if (std::ssize(open_) + height > kMaxYamlDepth) {
      Refuse(mark, fmt::format("nested more than {} deep", kMaxYamlDepth));
    }
  }

  const std::string& source_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Subtree> anchored_;
  int64_t repeated_ = 0;
};

}  // namespace

std::string Place(const std::string& source, const YAML::Mark& mark) {
  const std::string name = base::InOneLine(source, base::kMaxPathBytes);
  if (mark.is_null()) return name + ": ";
  return fmt::format("{}:{}:{}: ", name, mark.line + 1, mark.column + 1);
}

void CheckDocument(const std::string& text, const std::string& source) {
  CheckUtf8(text, source);
  // YAML::LoadAll never ends where a stray bracket follows a document.
  std::istringstream in(text);
  YAML::Parser parser(in);
  LimitCheck check(source);
  if (!parser.HandleNextDocument(check)) {
    throw InputError(fmt::format("cannot use '{}': it is empty", source));
  }
  if (parser.HandleNextDocument(check)) {
    throw InputError(fmt::format("cannot use '{}': something follows after its end", source));
  }
}

}  // namespace bayloom::yaml

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <deque>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapper_context.h"

namespace bayloom::mapspace {
namespace {

constexpr double kMaxMappings = 1e9;
/// Mappings of one tiling that are taken from the mapspace at a time.
constexpr int64_t kMaxBuffered = 4096;

class ExhaustiveMapper final : public Mapper {
 public:
  std::optional<Mapping> Next(MapperContext& context) override {
    while (!context.Done()) {
      while (!buffer_.empty()) {
        Mapping mapping = std::move(buffer_.front());
        buffer_.pop_front();
        if (context.Fits(mapping)) return mapping;
      }
      if (tiling_ >= context.mapspace().TilingCount()) return std::nullopt;
      Refill(context.mapspace());
    }
    return std::nullopt;
  }

  void Tell(Mapping, const trial::Outcome&, MapperContext&) override {}

 private:
  /// The next mappings of the tiling; once it has no more, the next tiling is this one.
  void Refill(const Mapspace& mapspace) {
    int64_t passed = 0;
    const bool is_whole = mapspace.ForEachOfTiling(tiling_, [&](const Mapping& mapping) {
      if (passed++ < taken_) return true;
      if (std::ssize(buffer_) == kMaxBuffered) return false;
      buffer_.push_back(mapping);
      return true;
    });
    taken_ += std::ssize(buffer_);
    if (!is_whole) return;
    ++tiling_;
    taken_ = 0;
  }

  int64_t tiling_ = 0;
  int64_t taken_ = 0;  ///< of the tiling
  std::deque<Mapping> buffer_;
};

}  // namespace

std::unique_ptr<Mapper> MakeExhaustiveMapper(const MapperContext& context) {
  const double size = context.mapspace().Size();
  if (size > kMaxMappings) {
    throw InputError(fmt::format(
        "the mapspace has {:.2g} mappings, too many to try them all; constrain it, or choose "
        "another mapper",
        size));
  }
  return std::make_unique<ExhaustiveMapper>();
}

}  // namespace bayloom::mapspace

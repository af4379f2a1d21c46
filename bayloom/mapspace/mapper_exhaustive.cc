#include <fmt/format.h>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapper_run.h"

namespace bayloom {
namespace {

constexpr double kMostMappings = 1e9;

}  // namespace

void SearchExhaustively(MapperRun& run) {
  const double size = run.mapspace().Size();
  if (size > kMostMappings) {
    throw InputError(fmt::format(
        "the mapspace has {:.2g} mappings, too many to try them all; constrain it, or choose "
        "another mapper",
        size));
  }
  run.mapspace().ForEach([&](const Mapping& mapping) {
    if (run.Fits(mapping)) run.Evaluate(mapping);
    return !run.Done();
  });
}

}  // namespace bayloom

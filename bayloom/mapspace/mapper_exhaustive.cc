#include <fmt/format.h>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapper_run.h"

namespace bayloom {
namespace {

constexpr double kMostMappings = 1e9;

class ExhaustiveMapper final : public Mapper {
 public:
  /// After a pause what was tried is passed over.
  void Search(MapperRun& run) override {
    int64_t passed = 0;
    run.mapspace().ForEach([&](const Mapping& mapping) {
      if (passed++ < tried_) return true;
      if (run.Done()) return false;
      ++tried_;
      if (run.Fits(mapping)) run.Evaluate(mapping);
      return true;
    });
  }

 private:
  int64_t tried_ = 0;
};

}  // namespace

std::unique_ptr<Mapper> MakeExhaustiveMapper(const MapperRun& run) {
  const double size = run.mapspace().Size();
  if (size > kMostMappings) {
    throw InputError(fmt::format(
        "the mapspace has {:.2g} mappings, too many to try them all; constrain it, or choose "
        "another mapper",
        size));
  }
  return std::make_unique<ExhaustiveMapper>();
}

}  // namespace bayloom

#include "bayloom/search/strategy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "bayloom/base/result.h"

namespace bayloom {
namespace {

struct Maker {
  const char* name;
  std::unique_ptr<SearchStrategy> (*make)(StrategyOptions);
};

constexpr Maker kMakers[] = {
    {"evolutionary", MakeEvolutionarySearch},
    {"random", MakeRandomSearch},
};

}  // namespace

std::vector<std::string> StrategyNames() {
  std::vector<std::string> names;
  for (const Maker& maker : kMakers) names.push_back(maker.name);
  return names;
}

std::unique_ptr<SearchStrategy> CreateStrategy(const std::string& name, StrategyOptions options) {
  for (const Maker& maker : kMakers) {
    if (name == maker.name) return maker.make(std::move(options));
  }
  throw InputError(fmt::format("unknown search strategy '{}': choose one of {}", name,
                               fmt::join(StrategyNames(), ", ")));
}

}  // namespace bayloom

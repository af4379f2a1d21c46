#include "bayloom/optimizer/random_search.h"

namespace bayloom {

std::vector<Configuration> RandomSearch::Ask(int n) {
  std::vector<Configuration> asked;
  while (static_cast<int>(asked.size()) < n) {
    std::optional<Configuration> drawn = sampler_.Draw(memory_, random_);
    if (!drawn) break;
    memory_.MarkAsked(*drawn);
    asked.push_back(std::move(*drawn));
  }
  return asked;
}

}  // namespace bayloom

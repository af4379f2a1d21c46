#include "bayloom/optimizer/fresh_sampler.h"
#include "bayloom/optimizer/technique.h"

namespace bayloom {
namespace {

class RandomTechnique final : public Technique {
 public:
  std::string_view name() const override { return "random"; }
  std::optional<Configuration> Propose(const Memory& memory, RandomStream& random) override {
    return sampler_.Draw(memory, random);
  }
  void Observe(const Memory&, const Observation&, bool, RandomStream&) override {}

 private:
  FreshSampler sampler_;
};

}  // namespace

std::unique_ptr<Technique> MakeRandomTechnique() { return std::make_unique<RandomTechnique>(); }

}  // namespace bayloom

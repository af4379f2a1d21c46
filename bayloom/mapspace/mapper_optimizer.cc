#include <map>
#include <string>

#include "bayloom/mapspace/mapper_run.h"
#include "bayloom/mapspace/sensitivity.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom {
namespace {

class OptimizerMapper final : public Mapper {
 public:
  OptimizerMapper(const MapperRun& run, std::string_view optimizer)
      : encoding_(MakeEncoding(run)),
        optimizer_(MakeOptimizer(optimizer, encoding_->space(), Options(run))) {}

  void Search(MapperRun& run) override {
    while (!run.Done()) {
      const std::vector<Configuration> asked = optimizer_->Ask(1);
      if (asked.empty()) return;
      optimizer_->Tell(asked[0], Evaluate(encoding_->Decode(asked[0]), run));
    }
  }

 private:
  static std::unique_ptr<MappingEncoding> MakeEncoding(const MapperRun& run) {
    const MapperOptions& options = run.options();
    std::unique_ptr<MappingEncoding> encoding =
        MakeMappingEncoding(run.mapspace(), run.model(), options.tiles, options.orders);
    if (options.top_k == 0) return encoding;
    const auto evaluator = MakeModelEvaluator(run.model(), options.objective);
    const EncodingSensitivity sensitivity =
        RankEncoding(*encoding, *evaluator, options.ranking_samples, options.seed);
    return KeepTop(std::move(encoding), sensitivity, options.top_k);
  }

  static OptimizerOptions Options(const MapperRun& run) {
    const MapperOptions& options = run.options();
    OptimizerOptions optimizer;
    optimizer.seed = options.seed;
    optimizer.transfer = LearnFrom(options.earlier, options.transfer, options.objective,
                                   run.mapspace(), options.tiles, options.orders);
    return optimizer;
  }

  Outcome Evaluate(const std::optional<Mapping>& mapping, MapperRun& run) {
    Outcome outcome = Outcome::Infeasible(Verdict::kMemory, "does not fit");
    bool is_new = false;
    if (mapping) {
      const auto [place, inserted] =
          known_.try_emplace(PrintCompact(*mapping, run.mapspace().problem()));
      is_new = inserted;
      if (is_new) place->second = run.Evaluate(*mapping);
      outcome = place->second;
    }
    run.CountDraw(is_new);
    return outcome;
  }

  std::unique_ptr<MappingEncoding> encoding_;
  std::unique_ptr<Optimizer> optimizer_;
  /// Configurations that differ only in loops that run once are the same mapping: known already.
  std::map<std::string, Outcome> known_;
};

}  // namespace

std::unique_ptr<Mapper> MakeOptimizerMapper(const MapperRun& run, std::string_view optimizer) {
  return std::make_unique<OptimizerMapper>(run, optimizer);
}

}  // namespace bayloom

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "bayloom/strategy/annotated_choice.h"
#include "bayloom/strategy/mutator.h"

namespace bayloom::strategy {
namespace {

class CategoricalMutator final : public Mutator {
 public:
  explicit CategoricalMutator(std::string key) : key_(std::move(key)) {}

  std::string name() const override { return key_.empty() ? "categorical" : key_; }

  std::optional<tensor::Trace> Mutate(const sketch::Candidate& parent,
                                      base::RandomStream& random) const override {
    const tensor::Trace& trace = parent.trace;
    std::vector<int> steps;
    for (int step : trace.SamplingSteps()) {
      const tensor::Instruction& instruction = trace.instructions()[step];
      if (instruction.kind == tensor::InstructionKind::kSampleCategorical &&
          instruction.attributes.size() > 1 && (key_.empty() || Annotates(trace, step, key_))) {
        steps.push_back(step);
      }
    }
    if (steps.empty()) return std::nullopt;
    const int step = steps[random.UniformInt(static_cast<int64_t>(steps.size()))];
    const int64_t choices = static_cast<int64_t>(trace.instructions()[step].attributes.size());
    const int64_t now = trace.decisions()[step]->values[0];
    const int64_t other = (now + 1 + random.UniformInt(choices - 1)) % choices;
    return trace.WithDecision(step, tensor::Decision{{other}});
  }

 private:
  std::string key_;
};

}  // namespace

std::unique_ptr<Mutator> MakeCategoricalMutator(std::string key) {
  return std::make_unique<CategoricalMutator>(std::move(key));
}

}  // namespace bayloom::strategy

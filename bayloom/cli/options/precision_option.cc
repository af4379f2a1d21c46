// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/precision_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "bayloom/cli/help.h"
#include "bayloom/cli/output.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/record/store.h"
#include "bayloom/tuning/network_precision.h"

namespace bayloom::cli {
namespace {

/// float16 and tf32 have fractions of the same length.
constexpr double kBFloat16Tolerance = 2e-2, kFloat16Tolerance = 1e-2;

}  // namespace

PrecisionOption::PrecisionOption()
    : known_(std::make_shared<std::vector<tuning::NetworkPrecision>>()),
      used_(std::make_shared<std::vector<tuning::NetworkPrecision>>()) {}

void PrecisionOption::AddTo(CLI::App& command) {
  OneOf(command
            .add_option("--precision", name_,
                        WithDetails("Type of products: f32, tf32, bf16 or f16",
                                    ". Products and convolutions read this type;\n"
                                    "sums and all other operators are float32. An operator whose\n"
                                    "outputs would differ from float32 by more than the tolerance\n"
                                    "reads float32. tf32 is for tensor cores of GPUs; elsewhere\n"
                                    "it only rounds"))
            ->option_text("TYPE")
            ->default_str("f32"),
        {"f32", "tf32", "bf16", "f16"});
  Advanced(command
               .add_option("--precision-tolerance", tolerance_,
                           "Largest error of an output by --precision, relative to its largest\n"
                           "value, on random inputs")
               ->option_text("X")
               ->default_str("0.02 for bf16, 0.01 for f16 and tf32")
               ->check(CLI::PositiveNumber));
}

void PrecisionOption::Learn(record::Store& store) const {
  for (const record::RunRecord& session : store.Runs(record::RunKind::kTune)) {
    const std::vector<tuning::NetworkPrecision> networks =
        tuning::PrecisionsOfDefinition(session.definition);
    known_->insert(known_->end(), networks.begin(), networks.end());
  }
}

void PrecisionOption::Resume(record::Store& store, const std::string& subject) {
  std::vector<tuning::NetworkPrecision> last;
  for (const record::RunRecord& session : store.Runs(record::RunKind::kTune)) {
    if (session.name == subject) last = tuning::PrecisionsOfDefinition(session.definition);
  }
  if (last.empty()) return;
  const std::string name = tuning::PrecisionName(last.front().choice.dtype);
  if (name_.value_or(name) != name) return;
  name_ = name;
  if (!tolerance_) tolerance_ = last.front().tolerance;
}

double PrecisionOption::Tolerance() const {
  return tolerance_.value_or(name_ == "bf16" ? kBFloat16Tolerance : kFloat16Tolerance);
}

tuning::NetworkPrecision PrecisionOption::Decide(const graph::Graph& simplified) const {
  const uint64_t network = tuning::NetworkHash(simplified);
  const tensor::DType dtype = tuning::PrecisionOfName(*name_);
  for (auto known = known_->rbegin(); known != known_->rend(); ++known) {
    const bool agrees = known->network == network && known->choice.dtype == dtype &&
                        (!tolerance_ || known->tolerance == *tolerance_);
    if (agrees) return *known;
  }
  Say("comparing {} with f32\n", *name_);
  return {network, Tolerance(),
          graph::ChoosePrecision(simplified, {.dtype = dtype, .tolerance = Tolerance()})};
}

graph::TaskGraph PrecisionOption::TasksOf(graph::Graph graph) const {
  graph::Simplify(graph);
  graph::Precision precision;
  if (IsReduced()) {
    // A network that is loaded again is in the precision that was decided and said before.
    auto used =
        std::ranges::find(*used_, tuning::NetworkHash(graph), &tuning::NetworkPrecision::network);
    if (used == used_->end()) {
      used = used_->insert(used, Decide(graph));
      Say("{}\n", tuning::Describe(*used));
    }
    precision = used->choice.precision();
  }
  graph::LowerPrecision(graph, precision);
  graph::ArrangeMemory(graph);
  return graph::ExtractTasks(std::move(graph));
}

nlohmann::json PrecisionOption::Json() const { return tuning::PrecisionToJson(*used_); }

void PrecisionOption::AddTo(nlohmann::json& shown) const {
  if (!used_->empty()) shown["precision"] = Json();
}

std::vector<std::string> PrecisionOption::Arguments() const {
  std::vector<std::string> arguments;
  if (IsReduced()) arguments = {"--precision", *name_};
  if (!arguments.empty() && tolerance_) {
    arguments.insert(arguments.end(), {"--precision-tolerance", fmt::format("{:g}", *tolerance_)});
  }
  return arguments;
}

}  // namespace bayloom::cli

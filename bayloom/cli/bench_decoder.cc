// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/bench_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/cli/network_runner.h"
#include "bayloom/cli/output.h"
#include "bayloom/graph/call_kinds.h"
#include "bayloom/graph/decoder.h"
#include "bayloom/graph/random_inputs.h"
#include "bayloom/measure/measure_machine.h"
#include "bayloom/measure/timing.h"
#include "bayloom/report/format.h"

namespace bayloom::cli {
namespace {

/// A step, and what it took.
struct Step {
  int64_t past, count;
  measure::Timing timing = {};
  int64_t bytes = 0;                             ///< that it reads
  double weights = 0, attention = 0, other = 0;  ///< shares of the time

  std::string Name() const {
    if (past == 0 && count > 1) return fmt::format("prompt of {}", report::FormatCount(count));
    return fmt::format("token behind {}", report::FormatCount(past));
  }
};

std::vector<Step> AllOf(const DecoderSteps& steps) {
  std::vector<Step> all;
  for (const int64_t count : steps.prefill) all.push_back({0, count});
  for (const int64_t past : steps.decode) all.push_back({past, 1});
  return all;
}

/// Tokens that there are, all of them seen.
std::vector<tensor::HostTensor> InputsFor(const graph::Graph& graph,
                                          const graph::Decoder& decoder) {
  std::vector<tensor::HostTensor> inputs = graph::MakeRandomInputs(graph, 0);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const graph::DecoderInput kind = decoder.inputs[i];
    const bool is_kept = kind == graph::DecoderInput::kPast || kind == graph::DecoderInput::kHeld;
    for (int64_t e = 0; e < inputs[i].ElementCount() && !is_kept; ++e) {
      if (kind == graph::DecoderInput::kTokens) {
        inputs[i].SetInt(e, inputs[i].GetInt(e) % decoder.words);
      } else {
        inputs[i].Set(e, kind == graph::DecoderInput::kMask ? 1 : 0);
      }
    }
  }
  return inputs;
}

/// One shape's network, ready to take steps.
class StepTimer {
 public:
  StepTimer(const tuning::TunedNetwork& network, const graph::Decoder& decoder,
            graph::Branches branches)
      : graph_(network.network.graph),
        network_(network),
        decoder_(decoder),
        runner_(network, InputsFor(graph_, decoder), branches) {
    runner_.KeepStates(graph_);
  }

  void Time(Step& step, double seconds) {
    const std::vector<int64_t> lengths = *decoder_.LengthsOf(graph_, step.past, step.count);
    runner_.SetLengths(lengths);
    std::vector<double> times;
    for (int i = 0; i < 3; ++i) runner_.Run();
    const double end = base::MonotonicSeconds() + seconds;
    while (times.size() < 3 || base::MonotonicSeconds() < end) {
      const double start = base::MonotonicSeconds();
      runner_.Run();
      times.push_back(base::MonotonicSeconds() - start);
    }
    step.timing = measure::Summarize(times);
    step.timing.runs = static_cast<int64_t>(times.size());
    step.bytes = graph::Decoder::ConstantBytes(graph_, lengths) +
                 graph::Decoder::StateBytes(graph_, step.past, step.count) +
                 decoder_.InputBytes(graph_, graph::DecoderInput::kReplaced) +
                 decoder_.InputBytes(graph_, graph::DecoderInput::kHeld);
    Divide(step);
  }

 private:
  void Divide(Step& step) {
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) runner_.RunTimed(seconds);
    const double whole = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    for (size_t c = 0; c < seconds.size(); ++c) {
      const graph::TaskCall& call = network_.network.calls[c];
      const bool is_product = graph::KindOf(graph_, call) == graph::CallKind::kProduct;
      double& part = !is_product ? step.other : ReadsState(call) ? step.attention : step.weights;
      part += seconds[c] / whole;
    }
  }

  bool ReadsState(const graph::TaskCall& call) const {
    return std::ranges::any_of(graph_.states, [&](const graph::State& state) {
      return std::ranges::any_of(call.parameters, [&](graph::ValueId value) {
        return network_.network.storage[value].whole == state.memory;
      });
    });
  }

  const graph::Graph& graph_;
  const tuning::TunedNetwork& network_;
  const graph::Decoder& decoder_;
  NetworkRunner runner_;
};

/// A shape's network as the decoder that it is.
struct ShapedDecoder {
  const tuning::TunedNetwork* network;
  graph::Decoder decoder;

  bool Takes(const Step& step) const {
    return decoder.LengthsOf(network->network.graph, step.past, step.count).has_value();
  }
};

std::vector<ShapedDecoder> DecodersOf(const std::vector<ShapedNetwork>& networks) {
  std::vector<ShapedDecoder> decoders;
  for (const ShapedNetwork& shape : networks) {
    const tuning::TunedNetwork& network = shape.targets.front();
    Result<graph::Decoder> decoder = graph::AsDecoder(network.network.graph);
    if (!decoder) {
      throw InputError("--decode and --prefill: no decoder: " + decoder.error().message);
    }
    decoders.push_back({&network, *std::move(decoder)});
  }
  return decoders;
}

/// Refuses a step that none takes, before any is timed.
void CheckAllAreTaken(const std::vector<Step>& steps, const std::vector<ShapedDecoder>& decoders) {
  for (const Step& step : steps) {
    if (std::ranges::any_of(decoders, [&](const auto& each) { return each.Takes(step); })) continue;
    throw InputError(fmt::format(
        "no shape of the model takes a {}: --dim gives the lengths of steps and of the past",
        step.Name()));
  }
}

/// Times those steps that the network takes and that were not timed before.
void TimeWith(const ShapedDecoder& shape, graph::Branches branches, double seconds,
              std::vector<Step>& steps) {
  std::optional<StepTimer> timer;
  for (Step& step : steps) {
    if (step.timing.runs > 0 || !shape.Takes(step)) continue;
    if (!timer) timer.emplace(*shape.network, shape.decoder, branches);
    Say("timing a {}\n", step.Name());
    timer->Time(step, seconds);
  }
}

report::Cell Share(double share) { return {share, fmt::format("{:.1f} %", 100 * share)}; }

report::Table TableOf(const std::vector<Step>& steps, double memory_bytes_per_second) {
  report::Table table({"step", "tokens a second", "time", "spread", "reads", "rate", "of memory",
                       "weights", "attention", "other"});
  for (const Step& step : steps) {
    const double seconds = step.timing.seconds, rate = static_cast<double>(step.bytes) / seconds;
    const double tokens = static_cast<double>(step.count) / seconds;
    table.AddRow({step.Name(),
                  {tokens, fmt::format("{:.1f}", tokens)},
                  {seconds, report::FormatSeconds(seconds)},
                  Share(step.timing.spread),
                  {step.bytes, fmt::format("{:.1f} MB", static_cast<double>(step.bytes) / 1e6)},
                  {rate, fmt::format("{:.1f} GB/s", rate / 1e9)},
                  Share(rate / memory_bytes_per_second),
                  Share(step.weights),
                  Share(step.attention),
                  Share(step.other)});
  }
  return table;
}

}  // namespace

TimedSteps TimeSteps(const NetworkOption& option, const DecoderSteps& steps, double seconds) {
  std::vector<Step> all = AllOf(steps);
  const std::vector<ShapedNetwork> networks = option.LoadForAll();
  const std::vector<ShapedDecoder> decoders = DecodersOf(networks);
  CheckAllAreTaken(all, decoders);
  for (const ShapedDecoder& shape : decoders) TimeWith(shape, option.Branches(), seconds, all);
  const Result<measure::MeasuredMachine> machine =
      measure::MeasuredMachineOf(networks.front().targets.front().target);
  if (!machine) throw InputError(machine.error().message);
  const double rate = machine->model.BytesPerSecond(machine->model.levels.back());
  return {TableOf(all, rate), rate};
}

}  // namespace bayloom::cli

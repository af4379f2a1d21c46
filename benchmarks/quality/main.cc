// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// How fast tuned operators are beside the libraries' hand-written ones: every operator is tuned,
// then both sides are timed in turns in this process.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "bayloom/base/stop_flag.h"
#include "bayloom/codegen/host.h"
#include "bayloom/cost/xgboost_model.h"
#include "bayloom/measure/runner_main.h"
#include "bayloom/tuning/measure_evaluator.h"
#include "bayloom/tuning/session.h"
#include "benchmarks/alternate.h"
#include "benchmarks/peers/convolution.h"
#include "benchmarks/peers/matmul.h"
#include "benchmarks/quality/operators.h"
#include "benchmarks/quality/tuned_kernel.h"
#include "benchmarks/result_file.h"
#include "benchmarks/run_tool.h"

namespace bayloom {
namespace {

struct QualityOptions {
  std::vector<int> threads = {1, 2};
  int trials = 256;
  int seeds = 3;
  std::string strategy = "evolutionary";
  std::string only;
  std::string database = "quality.db";
  std::string json;
  std::string result;  ///< a folder for result files; empty: none
};

/// Tunes the operator, or goes on with what an interrupted run of the same name did.
tensor::Program TunedProgram(const OperatorCase& op, const target::Target& target, int seed,
                             const QualityOptions& options) {
  record::Store store(options.database);
  cost::XgboostModel model;
  measure::Measurer measurer(target, {});
  tuning::MeasureEvaluator evaluator(measurer);
  tuning::SessionOptions session_options;
  session_options.model =
      fmt::format("{} {} {} threads seed {}", op.name, options.strategy, target.cores, seed);
  session_options.strategy = options.strategy;
  session_options.run.budget.trials = options.trials;
  session_options.run.seed = seed;
  session_options.use_earlier_sessions = false;
  for (const record::RunRecord& earlier : store.Runs(record::RunKind::kTune)) {
    if (earlier.name == session_options.model) session_options.resume = earlier.id;
  }
  tuning::Session session(target, {{op.name, op.workload, 1}}, store, &model, evaluator,
                          session_options);
  if (session.Run() == trial::StopReason::kStopped) std::exit(130);
  if (!session.tasks()[0]->best()) throw InputError(op.name + ": no program was feasible");
  return session.tasks()[0]->best()->candidate.program;
}

/// Largest difference relative to the largest value.
double RelativeError(const std::vector<float>& a, const std::vector<float>& b) {
  double scale = 0, worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    scale = std::max(scale, std::abs(static_cast<double>(b[i])));
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return worst / scale;
}

struct Comparison {
  double ratio;  ///< the peer's time over ours: above 1 we are faster
  double seconds, peer_seconds, spread;
};

Comparison Compare(const TunedKernel& ours, const Peer& peer) {
  ours.Run();
  peer.run();
  if (const double error = RelativeError(ours.Output(), peer.output()); !(error < peer.tolerance)) {
    throw InputError(fmt::format("outputs differ by {:.2g}", error));
  }
  const std::vector<RunTime> times = Alternate({[&] { ours.Run(); }, peer.run});
  return {times[1].median / times[0].median, times[0].median, times[1].median,
          times[0].iqr / times[0].median + times[1].iqr / times[1].median};
}

Comparison CompareTuned(const OperatorCase& op, int threads, const QualityOptions& options,
                        std::vector<double>& ratios, std::string& implementation) {
  const target::Target target = codegen::HostTarget(threads);
  const OperatorData data = RandomData(op.workload);
  std::vector<Comparison> comparisons;
  for (int seed = 1; seed <= options.seeds; ++seed) {
    const tensor::Program program = TunedProgram(op, target, seed, options);
    const Peer peer = op.make_peer(data, threads);
    implementation = peer.implementation;
    comparisons.push_back(Compare(TunedKernel(program, target, data), peer));
    ratios.push_back(comparisons.back().ratio);
  }
  std::sort(comparisons.begin(), comparisons.end(),
            [](const Comparison& a, const Comparison& b) { return a.ratio < b.ratio; });
  std::sort(ratios.begin(), ratios.end());
  return comparisons[comparisons.size() / 2];
}

/// Result files of all operators and of their groups, from what Run has found.
void WriteResults(const std::string& folder, const nlohmann::json& comparisons, int argc,
                  const char* const* argv) {
  BenchmarkResult operators = {"Every operator beside OpenBLAS and oneDNN", {}, {}, {}};
  BenchmarkResult groups = {"Operators beside OpenBLAS and oneDNN", {}, {}, {}};
  std::map<std::pair<std::string, int>, std::vector<double>> ratios_of_groups;
  std::map<std::string, std::string> peers;
  for (const nlohmann::json& c : comparisons) {
    const std::vector<double> ratios = c["ratios"];
    const double ratio = ratios[ratios.size() / 2];
    operators.rows.push_back({{"operator", c["operator"]},
                              {"threads", c["threads"]},
                              {"bayloom_us", c["seconds"].get<double>() * 1e6},
                              {"peer_us", c["peer_seconds"].get<double>() * 1e6},
                              {"ratio", ratio},
                              {"ratio_low", ratios.front()},
                              {"ratio_high", ratios.back()}});
    ratios_of_groups[{c["group"], c["threads"]}].push_back(ratio);
    peers[c["group"]] = c["group"].get<std::string>() == "matmul" ? "OpenBLAS" : "oneDNN";
  }
  for (const auto& [group, ratios] : ratios_of_groups) {
    double logs = 0;
    for (const double ratio : ratios) logs += std::log(ratio);
    groups.rows.push_back({{"group", group.first},
                           {"operators", ratios.size()},
                           {"threads", group.second},
                           {"peer", peers[group.first]},
                           {"ratio", std::exp(logs / static_cast<double>(ratios.size()))},
                           {"ratio_worst", *std::min_element(ratios.begin(), ratios.end())},
                           {"ratio_best", *std::max_element(ratios.begin(), ratios.end())}});
  }
  operators.peers =
      groups.peers = {{"OpenBLAS", PeerMatmul::Version()}, {"oneDNN", PeerConvolution::Version()}};
  WriteResult(folder + "/operators.json", operators, argc, argv);
  WriteResult(folder + "/operator_groups.json", groups, argc, argv);
}

/// Every comparison: "group", "operator", "threads", "seconds", "peer_seconds", "ratios", ...
nlohmann::json Run(const QualityOptions& options) {
  fmt::print("{:<18}{:>4}{:>10}{:>10}{:>11}{:>9}  {:<17}{}\n", "operator", "thr", "us", "GFLOP/s",
             "peer us", "ratio", "ratio of seeds", "peer");
  nlohmann::json rows;
  std::map<std::string, std::vector<double>> logs;
  for (const OperatorCase& op : AllOperatorCases()) {
    if (op.name.find(options.only) == std::string::npos &&
        op.group.find(options.only) == std::string::npos) {
      continue;
    }
    for (int threads : options.threads) {
      std::vector<double> ratios;
      std::string implementation;
      const Comparison c = CompareTuned(op, threads, options, ratios, implementation);
      fmt::print("{:<18}{:>4}{:>10.1f}{:>10.1f}{:>11.1f}{:>9.2f}  {:<17}{}\n", op.name, threads,
                 c.seconds * 1e6, op.workload.Flops() / c.seconds * 1e-9, c.peer_seconds * 1e6,
                 c.ratio, fmt::format("{:.2f} .. {:.2f}", ratios.front(), ratios.back()),
                 implementation);
      std::fflush(stdout);
      logs[fmt::format("{} {} threads", op.group, threads)].push_back(std::log(c.ratio));
      rows.push_back({{"group", op.group},
                      {"operator", op.name},
                      {"threads", threads},
                      {"seconds", c.seconds},
                      {"peer_seconds", c.peer_seconds},
                      {"ratios", ratios},
                      {"peer", implementation},
                      {"trials", options.trials}});
    }
  }
  for (const auto& [group, values] : logs) {
    double sum = 0;
    for (double v : values) sum += v;
    fmt::print("{:<32} geometric mean of {:>2} ratios {:.2f}\n", group, values.size(),
               std::exp(sum / static_cast<double>(values.size())));
  }
  if (!options.json.empty()) {
    std::FILE* file = std::fopen(options.json.c_str(), "w");
    if (file == nullptr) throw InputError(options.json + ": cannot write");
    fmt::print(file, "{}\n", rows.dump(1));
    std::fclose(file);
  }
  return rows;
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  if (const std::optional<int> code = bayloom::measure::RunAsRunner(argc, argv)) return *code;
  bayloom::PeerMatmul::UseBestKernels(argv);
  bayloom::QualityOptions options;
  CLI::App app(
      "Tunes operators and times them alternately with OpenBLAS's and oneDNN's. Above a ratio of "
      "1, "
      "Bayloom is faster.",
      "bayloom-quality");
  app.add_option("--threads", options.threads, "Numbers of threads")->capture_default_str();
  app.add_option("--trials", options.trials, "Trials an operator")->capture_default_str();
  app.add_option("--seeds", options.seeds, "Tunings an operator; the median counts")
      ->capture_default_str();
  app.add_option("--strategy", options.strategy, "Search strategy")->capture_default_str();
  app.add_option("--only", options.only, "Only operators or groups with this in their name");
  app.add_option("--db", options.database, "Records; an interrupted run goes on from them")
      ->capture_default_str();
  app.add_option("--json", options.json, "Also write the figures to this file");
  app.add_option("--result", options.result, "Also write result files into this folder")
      ->check(CLI::ExistingDirectory);
  bayloom::base::CatchStopSignals();
  return bayloom::RunTool(app, argc, argv, [&] {
    const nlohmann::json comparisons = bayloom::Run(options);
    if (!options.result.empty()) bayloom::WriteResults(options.result, comparisons, argc, argv);
  });
}

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/map_options.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "bayloom/base/duration.h"
#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/output.h"
#include "bayloom/graph/graph.h"
#include "bayloom/mapspace/cores/network_on_chip.h"
#include "bayloom/mapspace/encoding.h"
#include "bayloom/mapspace/formats/layer_list.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::cli {
namespace {

mapspace::ReuseCounting ParseReuse(const std::string& reuse) {
  if (reuse == "exact") return mapspace::ReuseCounting::kExact;
  if (reuse == "timeloop") return mapspace::ReuseCounting::kTimeloop;
  throw InputError("--counting: '" + reuse + "' is neither exact nor timeloop");
}

/// What is mapped, and onto what.
void AddSubject(MapArguments& arguments, CLI::App& map) {
  arguments.network.AddTo(map);
  map.add_option(
         "--op", arguments.ops,
         WithDetails(
             "An operation: matmul:M,N,K, conv2d:HxWxC,OUTPUTS,RxS, or "
             "depthwise:HxWxC,RxS",
             "; with ,stride=2,pad=1,dilation=2,batch=16 as needed. Given several times: the "
             "layers of a network"))
      ->option_text("OPERATION")
      ->allow_extra_args(false);
  map.add_option("--problem", arguments.problems, "Operations as Timeloop files (YAML)")
      ->option_text("FILE...");
  ListNames(map.add_option("--arch", arguments.architecture, "Accelerator, a Timeloop file or")
                ->option_text("ARCH")
                ->required(),
            mapspace::ShippedArchitectureNames());
  Advanced(
      map.add_option("--constraints", arguments.constraints, "Timeloop files of constraints (YAML)")
          ->option_text("FILE..."));
  map.add_option("--mapping", arguments.mapping, "Evaluate this mapping instead of searching")
      ->option_text("FILE");
  Advanced(map.add_option("--check", arguments.check,
                          "Check this certificate of --mapper exact instead of searching"))
      ->option_text("FILE");
  arguments.define.AddTo(map);
  arguments.sparsity.AddTo(map);
}

/// How long is searched, how, and what is kept.
void AddSearch(MapArguments& arguments, CLI::App& map) {
  OneOf(map.add_option("--objective", arguments.objectives,
                       "What to minimize; several for a Pareto front")
            ->option_text("NAME,...")
            ->default_str("energy")
            ->delimiter(',')
            ->allow_extra_args(false),
        {"energy", "delay", "latency", "cycles", "edp"});
  map.add_option("--evaluations", arguments.evaluations, "Mappings per layer")
      ->option_text("N")
      ->default_str("20000; simulator 100")
      ->check(AtLeastOne());
  map.add_flag("--fuse", arguments.fuse, "Of a network: keep tensors between layers on the chip");
  Advanced(
      map.add_option("--cores", arguments.cores,
                     "Several cores, each the accelerator but for its outermost memory, which they "
                     "share: mesh:2x2 or bus:4; with ,bandwidth=16 (words a cycle and link) and "
                     ",energy=0.5 (pJ a word and link). Layers are divided between them; with "
                     "--fuse, groups are shared by them, or pipelined")
          ->option_text("NETWORK"));
  Advanced(map.add_option("--tile-evaluations", arguments.tile_evaluations,
                          "--fuse: mappings to evaluate for each tile of a layer")
               ->option_text("N")
               ->default_str("1000")
               ->check(AtLeastOne()));
  map.add_option("--time", arguments.time, "Stop after this long, e.g. 30s, 10m, 2h")
      ->option_text("TIME");
  Advanced(map.add_option("--victory", arguments.victory,
                          "Stop after this many evaluations without an improvement")
               ->option_text("N")
               ->check(AtLeastOne()));
  OneOf(Advanced(
            map.add_option("--mappings", arguments.mappings,
                           "even: the tensors of a memory hold the tiles of the same loops, as in "
                           "Timeloop; uneven: each has a place of its own among the loops"))
            ->option_text("KIND")
            ->capture_default_str(),
        {"even", "uneven"});
  ListNames(Advanced(map.add_option("--mapper", arguments.mapper, "How mappings are searched")
                         ->option_text("NAME")
                         ->default_str("genetic; with a simulator bayesian")),
            mapspace::MapperNames());
  AddSchedulerOption(map, arguments.scheduler,
                     "How evaluations are divided between a network's layers");
  Advanced(map.add_option("--seed", arguments.seed, "Seed of all random choices")
               ->option_text("N")
               ->capture_default_str());
  map.add_option("--db", arguments.database, "Keep every evaluation in this database")
      ->option_text("FILE");
  map.add_flag("--resume", arguments.resume,
               "Continue the last such search in --db, if there is one");
  map.add_option("--out,-o", arguments.out, "Write the best mapping (YAML); of a network, a folder")
      ->option_text("PATH");
  Advanced(map.add_option("--certificate", arguments.certificate,
                          "--mapper exact: write what is proved (JSON)"))
      ->option_text("FILE");
  map.add_flag("--why", arguments.why, "Also: what each memory costs, and doubling it saves");
  map.add_flag("--json", arguments.json, "Print JSON");
}

/// What a mapping costs.
void AddEvaluation(MapArguments& arguments, CLI::App& map) {
  map.add_option(
         "--evaluator", arguments.evaluator,
         WithDetails("model, timeloop (runs timeloop-model), or a command with {mapping} that "
                     "prints the value",
                     " last; {problem} and {arch} are replaced, too"))
      ->option_text("CMD")
      ->capture_default_str();
  Advanced(map.add_option("--jobs,-j", arguments.jobs,
                          "Mappings that a simulator evaluates concurrently")
               ->option_text("N")
               ->capture_default_str()
               ->check(AtLeastOne()));
  arguments.workers.AddTo(map);
  Advanced(map.add_flag("--sandbox", arguments.sandbox,
                        "The simulator gets no network and may only write where its files are"));
  Advanced(map.add_option("--timeout", arguments.timeout,
                          "Time a simulator may take for one mapping, e.g. 30s, 10m")
               ->option_text("TIME")
               ->capture_default_str());
  Advanced(map.add_option("--counting", arguments.reuse,
                          "How the model counts data reuse: exact, or timeloop, as Timeloop 2.0")
               ->option_text("NAME")
               ->capture_default_str());
}

/// What the mapper "bayesian" can be told.
void AddBayesian(MapArguments& arguments, CLI::App& map) {
  Advanced(arguments.learn_from.AddTo(map, "off", "FILE",
                                      "a database of 'map'. For the mapper bayesian"));
  arguments.learn_from.AddMethodTo(map, "contextual");
  Advanced(map.add_option("--warm-start-model", arguments.warm_start_model,
                          "bayesian: learn from this many evaluations of the model before the "
                          "simulator is used")
               ->option_text("N")
               ->check(AtLeastOne()));
  Advanced(map.add_option("--top-k", arguments.top_k,
                          "Optimizers: search only the k parameters that influence the model most")
               ->option_text("K")
               ->check(AtLeastOne()));
  AddEncodingOptions(map, arguments.tiles, arguments.orders);
}

}  // namespace

void AddEncodingOptions(CLI::App& command, std::string& tiles, std::string& orders) {
  OneOf(Advanced(command.add_option("--tile-encoding", tiles, "Parameters that encode tile sizes")
                     ->option_text("NAME")
                     ->capture_default_str()),
        mapspace::TileEncodings());
  OneOf(
      Advanced(command.add_option("--order-encoding", orders, "Parameters that encode loop orders")
                   ->option_text("NAME")
                   ->capture_default_str()),
      mapspace::OrderEncodings());
}

void AddMapOptions(MapArguments& arguments, CLI::App& map) {
  AddSubject(arguments, map);
  AddSearch(arguments, map);
  AddEvaluation(arguments, map);
  AddBayesian(arguments, map);
  map.footer(
      WithDetails("Examples:\n"
                  "  bayloom map --op matmul:512,512,512 --arch gemmini\n"
                  "  bayloom map resnet50.onnx --arch eyeriss-like --objective edp --out mappings",
                  "\n"
                  "  bayloom map mobilenet_v2.onnx --arch simba-like --fuse\n"
                  "  bayloom map resnet50.onnx --arch simba-like --cores mesh:2x2,bandwidth=16\n"
                  "  bayloom map mobilenet_v2.onnx --arch simba-like --fuse --cores bus:4 \\\n"
                  "    --objective edp\n"
                  "  bayloom map --op matmul:512,768,768 --arch gemmini --mapper exact\n"
                  "  bayloom map --problem a.yaml --arch b.yaml --evaluator 'simulator {mapping}'\n"
                  "  bayloom map --op matmul:64,128,512 --arch gemmini --mapping mine.yaml"));
}

namespace {

/// Refuses options that the chosen mapper would ignore.
void CheckMapper(const MapArguments& arguments) {
  const std::string name = arguments.Options(1).MapperName();
  const auto need = [&](bool is_given, const char* option, bool is_used, const char* who) {
    if (is_given && !is_used) {
      throw InputError(fmt::format("{} is for {}, not for the mapper '{}'", option, who, name));
    }
  };
  need(!arguments.learn_from.words.empty(), "--learn-from", name == "bayesian", "'bayesian'");
  need(arguments.warm_start_model.has_value(), "--warm-start-model", name == "bayesian",
       "'bayesian'");
  need(!arguments.certificate.empty(), "--certificate", name == "exact", "'exact'");
  need(arguments.top_k.has_value(), "--top-k", mapspace::SearchesAnEncoding(name),
       "optimizers such as 'bayesian'");
}

}  // namespace

void MapArguments::Check() const {
  if (network.path.empty() == (OperationCount() == 0)) {
    throw InputError(
        "map needs one of a network, such as resnet50.onnx, --op, such as matmul:512,512,512, and "
        "--problem FILE");
  }
  if (!cores.empty()) (void)mapspace::ParseNetworkOnChip(cores);
  CheckMapper(*this);
  if (mapper == "exact" && evaluator != "model") {
    throw InputError("the mapper 'exact' proves by the built-in model, not by --evaluator");
  }
  if (mappings == "uneven" && evaluator != "model") {
    throw InputError("--mappings uneven needs the built-in model, not --evaluator");
  }
  if (why && evaluator != "model") {
    throw InputError("--why asks the built-in model, not --evaluator");
  }
  if (evaluator.find_first_not_of(" \t\n") == std::string::npos) {
    throw InputError("--evaluator is empty: give model, timeloop or a command");
  }
  if (!workers.empty() && jobs > 1) {
    throw InputError("--jobs: say it to each worker, 'bayloom worker --jobs N'");
  }
  if (resume && database.empty()) {
    throw InputError("--resume needs --db, the records to go on with");
  }
}

void MapArguments::PrepareOut(bool is_folder) const {
  if (!is_folder) {
    base::CheckFolderOf(out);
  } else if (!out.empty()) {
    base::CreateFolder(out);
  }
}

accelerator::MapOptions MapArguments::Options(int64_t layers) const {
  accelerator::MapOptions options;
  options.mapper = mapper;
  options.search.run.seed = seed;
  options.search.victory = victory;
  options.search.tiles = tiles;
  options.search.orders = orders;
  options.search.transfer = learn_from.method;
  options.search.top_k = top_k.value_or(0);
  std::vector<mapspace::MapObjective>& parsed = options.search.objectives;
  parsed.clear();
  for (const std::string& name : objectives) {
    const mapspace::MapObjective objective = mapspace::ParseMapObjective(name);
    if (std::ranges::find(parsed, objective) != parsed.end()) {
      throw InputError(fmt::format("--objective: '{}' is given twice", name));
    }
    parsed.push_back(objective);
  }
  std::optional<int64_t> all;
  if (evaluations) all = *evaluations * layers;
  options.search.run.budget = MakeBudget(all, time);
  options.counting = ParseReuse(reuse);
  options.mappings = mapspace::ParseMappingKind(mappings);
  options.evaluator = evaluator;
  options.simulator.timeout_seconds = base::ParseDuration(timeout, "--timeout");
  options.simulator.jobs = jobs;
  options.simulator.sandbox = sandbox;
  options.search.run.scheduler = scheduler;
  options.database = database;
  options.resume = resume;
  options.learn_from = learn_from.Sources().value_or(run::LearnFrom());
  options.rehearsal = warm_start_model.value_or(0);
  return options;
}

namespace {

void SayPlaces(std::span<const std::string> places) {
  for (const std::string& place : places) {
    Say("{}\n", base::MessageInOneLine(place + " has no effect here: the model does not count it"));
  }
}

void SayPlacesOf(std::span<const mapspace::Directive> directives) {
  for (const mapspace::Directive& directive : directives) SayPlaces(directive.without_effect);
}

}  // namespace

void SayWithoutEffect(const mapspace::Architecture& architecture) {
  SayPlaces(architecture.without_effect);
  SayPlacesOf(architecture.constraints);
}

std::vector<mapspace::Directive> MapArguments::Constraints() const {
  std::vector<mapspace::Directive> all;
  for (const std::string& file : constraints) {
    for (mapspace::Directive& directive : mapspace::ReadConstraints(file, define.Variables()))
      all.push_back(std::move(directive));
  }
  SayPlacesOf(all);
  return all;
}

mapspace::Architecture MapArguments::LoadArchitecture() const {
  mapspace::Architecture loaded =
      mapspace::LoadArchitecture(architecture, nullptr, define.Variables());
  sparsity.ApplyTo(loaded, define.Variables());
  SayWithoutEffect(loaded);
  return loaded;
}

mapspace::Architecture MapArguments::LoadArchitectureFor(
    const mapspace::Problem& of, std::span<const mapspace::Directive> rules) const {
  return accelerator::ArchitectureFor(mapspace::ParseMappingKind(mappings), of, LoadArchitecture(),
                                      rules);
}

std::string MapArguments::SubjectName() const {
  if (!network.path.empty()) return std::filesystem::path(network.path).filename().string();
  if (OperationCount() > 1) return fmt::format("{} operations", OperationCount());
  return ops.empty() ? problems[0] : ops[0];
}

mapspace::Problem MapArguments::LoadProblem() const {
  mapspace::Problem loaded = ops.empty() ? mapspace::ReadProblem(problems[0], define.Variables())
                                         : mapspace::ParseProblem(ops[0]);
  sparsity.ApplyTo(loaded);
  return loaded;
}

namespace {

/// Operations, those that are equal as one.
std::vector<accelerator::NetworkLayer> LayersOf(const MapArguments& arguments) {
  std::vector<accelerator::NetworkLayer> layers;
  const auto add = [&](const std::string& name, mapspace::Problem problem) {
    const auto same = std::ranges::find(layers, problem, &accelerator::NetworkLayer::problem);
    if (same != layers.end()) {
      ++same->count;
    } else {
      layers.push_back({.name = name, .problem = std::move(problem)});
    }
  };
  for (const std::string& op : arguments.ops) add(op, mapspace::ParseProblem(op));
  for (const std::string& file : arguments.problems) {
    add(std::filesystem::path(file).stem().string(),
        mapspace::ReadProblem(file, arguments.define.Variables()));
  }
  return layers;
}

}  // namespace

std::vector<accelerator::NetworkLayer> MapArguments::LoadLayers() const {
  if (!HasSeveralLayers()) return {{.name = "", .problem = LoadProblem()}};
  std::vector<accelerator::NetworkLayer> layers =
      network.path.empty() ? LayersOf(*this)
      : mapspace::IsLayerList(network.path)
          ? accelerator::LayersOf(mapspace::ReadLayers(network.path, define.Variables()))
          : accelerator::LayersOf(network.LoadGraph());
  std::vector<mapspace::Problem*> pointers;
  for (accelerator::NetworkLayer& layer : layers) pointers.push_back(&layer.problem);
  sparsity.ApplyTo(pointers);
  return layers;
}

}  // namespace bayloom::cli

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/shell_text.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/model_option.h"
#include "bayloom/cli/partial_plan.h"
#include "bayloom/graph/decoder.h"
#include "bayloom/graph/fixed_caches.h"
#include "bayloom/graph/partial.h"
#include "bayloom/graph/survey.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/report/format.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/table.h"

namespace bayloom::cli {
namespace {

/// Nodes of one reason that are named.
constexpr size_t kMaxNamedNodes = 3;

struct CheckOptions {
  ModelOption model;
  bool json = false;
};

/// A model's survey, and what it is as tasks if all of it is supported.
struct CheckedModel {
  graph::ModelSurvey survey;
  PartWork work = {};
  nlohmann::json decoder = {};  ///< what it is as a decoder, or why it is none; null without states
};

PartWork WorkOf(const graph::TaskGraph& tasks) {
  PartWork work = {0, std::ssize(tasks.tasks)};
  for (const graph::GraphTask& task : tasks.tasks)
    work.flops += task.weight * task.workload.Flops();
  return work;
}

nlohmann::json DecoderJson(const graph::Graph& graph) {
  const Result<graph::Decoder> decoder = graph::AsDecoder(graph);
  if (!decoder && graph.states.empty()) return {};
  if (!decoder) return {{"reason", decoder.error().message}};
  nlohmann::json inputs = nlohmann::json::object(), states = nlohmann::json::array();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    inputs[graph.values[graph.inputs[i]].name] = ToString(decoder->inputs[i]);
  }
  for (const graph::State& state : graph.states) {
    states.push_back({graph.values[state.past].name, graph.values[state.present].name});
  }
  nlohmann::json replaced = nlohmann::json::array();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    if (decoder->next[i] < 0) continue;
    replaced.push_back({graph.values[graph.inputs[i]].name,
                        graph.outputs[static_cast<size_t>(decoder->next[i])].name});
  }
  std::vector<int64_t> shortest;
  for (const graph::Symbol& symbol : graph.symbols) shortest.push_back(symbol.smallest);
  const int64_t capacity = decoder->Capacity(graph);
  nlohmann::json json = {
      {"capacity", nullptr},  // any number
      {"words", decoder->words},
      {"inputs", std::move(inputs)},
      {"states", std::move(states)},
      {"replaced_states", std::move(replaced)},
      {"constant_bytes", graph::Decoder::ConstantBytes(graph, shortest)},
      {"state_bytes_per_token", graph::Decoder::StateBytes(graph, 0)},
      {"replaced_bytes", decoder->InputBytes(graph, graph::DecoderInput::kReplaced)},
      {"held_bytes", decoder->InputBytes(graph, graph::DecoderInput::kHeld)}};
  if (capacity < std::numeric_limits<int64_t>::max()) json["capacity"] = capacity;
  if (decoder->window > 0) json["window"] = decoder->window;
  return json;
}

/// "56 states (the first one is present.0.key)"
std::string StatesText(const nlohmann::json& states, const char* what) {
  return fmt::format("{} {} (the first one is {})", states.size(), what,
                     base::SingleLine(states[0][1].get<std::string>()));
}

std::string DecoderText(const nlohmann::json& decoder) {
  if (decoder.is_null()) return "";
  if (decoder.contains("reason")) {
    return fmt::format("no decoder: {}\n", decoder["reason"].get<std::string>());
  }
  const auto megabytes = [&](const char* key) { return decoder[key].get<double>() / 1e6; };
  std::vector<std::string> states,
      reads = {fmt::format("{:.1f} MB of constants", megabytes("constant_bytes"))};
  if (!decoder["states"].empty()) {
    states.push_back(StatesText(decoder["states"], "states"));
    if (decoder.contains("window")) {
      states.back() += fmt::format(" of a window of {} tokens", decoder["window"].get<int64_t>());
    }
    reads.push_back(fmt::format("{:.4f} MB of states for each token before it",
                                megabytes("state_bytes_per_token")));
  }
  if (!decoder["replaced_states"].empty()) {
    states.push_back(StatesText(decoder["replaced_states"], "states that a step replaces"));
    reads.push_back(
        fmt::format("{:.4f} MB of states that it replaces", megabytes("replaced_bytes")));
  }
  if (decoder["held_bytes"].get<int64_t>() > 0) {
    reads.push_back(fmt::format("at most {:.4f} MB that are given once", megabytes("held_bytes")));
  }
  const std::string last = reads.back();
  reads.pop_back();
  const char* fixed =
      decoder.contains("fixed_caches") ? "; caches of fixed size: with --cache" : "";
  return fmt::format("decoder of {} words and {} tokens with {}; a step reads {}, and {}{}\n",
                     decoder["words"].get<int64_t>(),
                     decoder["capacity"].is_null() ? "any number of" : decoder["capacity"].dump(),
                     fmt::join(states, " and "), fmt::join(reads, ", "), last, fixed);
}

/// What the graph is as a decoder, with caches of fixed size as states.
nlohmann::json ExamineDecoder(const ModelOption& model, graph::Graph network) {
  network.state_type = model.OnlyShape().options.state_type;
  const Result<graph::Graph> grown = graph::GrowCaches(network);
  if (!grown && !grown.error().message.empty()) return {{"reason", grown.error().message}};
  nlohmann::json decoder =
      DecoderJson(model.precision.TasksOf(grown ? *grown : std::move(network)).graph);
  if (grown && decoder.contains("capacity")) decoder["fixed_caches"] = true;
  return decoder;
}

CheckedModel Examine(const ModelOption& model) {
  CheckedModel checked{graph::SurveyOnnx(model.path, model.OnlyShape().options)};
  if (!checked.survey.graph) return checked;
  if (checked.survey.open_graph) {
    checked.decoder = ExamineDecoder(model, *std::move(checked.survey.open_graph));
  } else if (checked.survey.IsComplete()) {
    checked.decoder = ExamineDecoder(model, *checked.survey.graph);
  }
  checked.work = WorkOf(model.precision.TasksOf(*std::move(checked.survey.graph)));
  checked.survey.graph.reset();
  return checked;
}

std::string Plural(size_t count, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string Assignments(const std::map<std::string, int64_t>& extents) {
  std::vector<std::string> texts;
  for (const auto& [name, extent] : extents) {
    texts.push_back(fmt::format("{}={}", base::SingleLine(name), extent));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

/// Inputs without which nodes cannot be known, for which freezing is all that they need.
std::vector<std::string> InputsToFreeze(const graph::ModelSurvey& survey) {
  std::set<std::string> inputs;
  for (const graph::NodeRefusal& refusal : survey.refusals) {
    if (refusal.inputs.empty()) return {};
    inputs.insert(refusal.inputs.begin(), refusal.inputs.end());
  }
  return {inputs.begin(), inputs.end()};
}

/// "2 nodes of 1 operator are refused"; a problem of no node comes first.
std::string RefusalText(const graph::ModelSurvey& survey) {
  if (!survey.problems.empty()) return survey.problems.front();
  std::set<std::string> operators;
  for (const graph::NodeRefusal& refusal : survey.refusals) operators.insert(refusal.op);
  return fmt::format("{} of {} {} refused", Plural(survey.refusals.size(), "node", "nodes"),
                     Plural(operators.size(), "operator", "operators"),
                     survey.refusals.size() == 1 ? "is" : "are");
}

/// Lengths for which bounds are all that nodes need that are refused otherwise.
std::vector<std::string> BoundsToGive(const graph::ModelSurvey& survey) {
  std::vector<std::string> bounds;
  for (const graph::NodeRefusal& refusal : survey.refusals) {
    if (refusal.bound.empty()) return {};
    if (std::ranges::count(bounds, refusal.bound) == 0) bounds.push_back(refusal.bound);
  }
  return bounds;
}

/// What the check says in the end.
std::string Verdict(const graph::ModelSurvey& survey) {
  const std::vector<std::string> bounds =
      survey.problems.empty() ? BoundsToGive(survey) : std::vector<std::string>();
  const std::vector<std::string> to_freeze = survey.problems.empty() && bounds.empty()
                                                 ? InputsToFreeze(survey)
                                                 : std::vector<std::string>();
  if (!to_freeze.empty() && to_freeze.size() == survey.inputs.size()) {
    return "cannot be tuned as a whole: sizes within it depend on its inputs; --partial says which "
           "parts can be compiled";
  }
  const bool is_refused = !survey.IsSupported() && to_freeze.empty() && bounds.empty();
  const bool lacks_sizes = !survey.missing.empty() || !survey.shapeless.empty();
  if (is_refused && !lacks_sizes) return "cannot be tuned: " + RefusalText(survey);
  std::vector<std::string> needs;
  if (lacks_sizes) needs.push_back(SuggestShapes(survey.missing, survey.shapeless));
  for (const std::string& input : to_freeze) {
    needs.push_back(fmt::format("--freeze {}=VALUE", input));
  }
  for (const std::string& name : bounds) {
    needs.push_back("--bound " +
                    base::QuotedFor(base::ShellContext::kPlain, fmt::format("{}=300", name)));
  }
  if (needs.empty() && !survey.symbols.empty()) return "is one network for all these lengths";
  if (needs.empty()) return "can be tuned as it is";
  return fmt::format(
      "needs {}{}", fmt::join(needs, " "),
      !is_refused ? ""
      : survey.assumed.empty()
          ? "; " + RefusalText(survey)
          : fmt::format("; with {} {}", Assignments(survey.assumed), RefusalText(survey)));
}

report::Table OperatorTable(const graph::ModelSurvey& survey) {
  report::Table table({"operator", "version", "nodes", "supported"});
  for (const graph::OperatorUse& use : survey.operators) {
    const std::string supported = use.refused == 0           ? "yes"
                                  : use.refused >= use.nodes ? "no"
                                                             : "in part";
    table.AddRow({use.op, use.version, use.nodes, supported});
  }
  return table;
}

/// Refusals with their reasons; equal ones together.
report::Table RefusalTable(const graph::ModelSurvey& survey) {
  struct Group {
    const graph::NodeRefusal* first;
    std::vector<std::string> nodes;
  };
  std::vector<Group> groups;
  std::map<std::pair<std::string, std::string>, size_t> known;
  for (const graph::NodeRefusal& refusal : survey.refusals) {
    const auto [group, is_new] =
        known.emplace(std::pair(refusal.op, refusal.reason), groups.size());
    if (is_new) groups.push_back({&refusal, {}});
    groups[group->second].nodes.push_back(refusal.node);
  }
  report::Table table({"refused", "version", "nodes", "where", "reason"});
  for (Group& group : groups) {
    const size_t count = group.nodes.size();
    group.nodes.resize(std::min(count, kMaxNamedNodes));
    table.AddRow(
        {group.first->op, group.first->version, static_cast<int64_t>(count),
         fmt::format("{}{}", fmt::join(group.nodes, ", "), count > kMaxNamedNodes ? ", ..." : ""),
         group.first->reason});
  }
  return table;
}

nlohmann::json ToJson(const std::vector<graph::DescribedTensor>& tensors) {
  nlohmann::json json = nlohmann::json::array();
  for (const auto& tensor : tensors) json.push_back({{"name", tensor.name}, {"type", tensor.type}});
  return json;
}

/// The range that a dimension is given; null if it is none.
const graph::Symbol* FindSymbol(const graph::ModelSurvey& survey, const std::string& name) {
  for (const graph::Symbol& symbol : survey.symbols) {
    if (symbol.name == name) return &symbol;
  }
  return nullptr;
}

nlohmann::json ToJson(const std::vector<graph::OpenDimension>& dimensions,
                      const graph::ModelSurvey& survey) {
  nlohmann::json json = nlohmann::json::array();
  for (const auto& d : dimensions) {
    json.push_back({{"name", d.name}, {"inputs", d.inputs}});
    const graph::Symbol* symbol = FindSymbol(survey, d.name);
    if (!symbol) continue;
    json.back()["smallest"] = symbol->smallest;
    json.back()["largest"] = symbol->largest;
    json.back()["step"] = symbol->step;
  }
  return json;
}

/// Lengths that the network finds, and who bounds them.
report::Table FoundTable(const graph::ModelSurvey& survey) {
  report::Table table({"found in a run", "length", "bound by", "node"});
  for (const graph::FoundBound& found : survey.found) {
    table.AddRow({found.name, graph::BoundText(found.least, found.most), ToString(found.source),
                  fmt::format("{} ({})", found.node, found.op)});
  }
  return table;
}

nlohmann::json ToJson(const std::vector<graph::FoundBound>& found) {
  nlohmann::json json = nlohmann::json::array();
  for (const graph::FoundBound& each : found) {
    json.push_back({{"name", each.name},
                    {"node", each.node},
                    {"operator", each.op},
                    {"smallest", each.least},
                    {"largest", each.most},
                    {"bound_by", ToString(each.source)}});
  }
  return json;
}

nlohmann::json ToJson(const CheckedModel& checked) {
  const graph::ModelSurvey& survey = checked.survey;
  nlohmann::json parameters = nlohmann::json::array();
  for (const graph::ParameterCount& p : survey.parameters) {
    parameters.push_back({{"type", p.type}, {"count", p.count}, {"bytes", p.bytes}});
  }
  nlohmann::json refusals = nlohmann::json::array();
  for (const graph::NodeRefusal& r : survey.refusals) {
    refusals.push_back({{"node", r.node},
                        {"operator", r.op},
                        {"version", r.version},
                        {"reason", r.reason},
                        {"inputs", r.inputs}});
    if (!r.bound.empty()) refusals.back()["bound"] = r.bound;
  }
  nlohmann::json json = {{"producer", survey.producer},
                         {"ir_version", survey.ir_version},
                         {"operator_sets", survey.operator_sets},
                         {"inputs", ToJson(survey.inputs)},
                         {"outputs", ToJson(survey.outputs)},
                         {"open", ToJson(survey.open, survey)},
                         {"missing", ToJson(survey.missing, survey)},
                         {"shapeless", survey.shapeless},
                         {"assumed", survey.assumed},
                         {"found", ToJson(survey.found)},
                         {"parameters", std::move(parameters)},
                         {"operators", OperatorTable(survey).Json()},
                         {"refusals", std::move(refusals)},
                         {"unexamined_nodes", survey.unexamined_nodes},
                         {"problems", survey.problems},
                         {"ready", survey.IsComplete()},
                         {"verdict", Verdict(survey)}};
  if (survey.IsSupported() && survey.shapeless.empty()) {
    json["flops"] = checked.work.flops;
    json["tasks"] = checked.work.tasks;
  }
  if (!checked.decoder.is_null()) json["decoder"] = checked.decoder;
  return json;
}

std::string Header(const graph::ModelSurvey& survey) {
  std::vector<std::string> sets;
  for (const auto& [domain, version] : survey.operator_sets) {
    sets.push_back(fmt::format("{} {}", domain, version));
  }
  std::string text = fmt::format(
      "{}IR version {}, operator sets: {}\n",
      survey.producer.empty() ? "" : fmt::format("written by {}, ", survey.producer),
      survey.ir_version, sets.empty() ? "none" : fmt::format("{}", fmt::join(sets, ", ")));
  for (const auto& input : survey.inputs)
    text += fmt::format("input   {}  {}\n", base::SingleLine(input.name), input.type);
  for (const auto& out : survey.outputs)
    text += fmt::format("output  {}  {}\n", base::SingleLine(out.name), out.type);
  for (const auto& dimension : survey.open) {
    const graph::Symbol* symbol = FindSymbol(survey, dimension.name);
    text += fmt::format(
        "open    {}  in {}\n", base::SingleLine(symbol ? symbol->ToString() : dimension.name),
        base::SingleLine(fmt::format("{}", fmt::join(dimension.inputs, ", ")), 200));
  }
  for (const graph::ParameterCount& p : survey.parameters) {
    text += fmt::format("data    {}  {} in {:.1f} MB\n", p.type, report::FormatCount(p.count),
                        static_cast<double>(p.bytes) / 1e6);
  }
  return text;
}

std::string Text(const CheckedModel& checked) {
  const graph::ModelSurvey& survey = checked.survey;
  std::string text = Header(survey) + "\n" + OperatorTable(survey).Text();
  if (!survey.found.empty()) text += "\n" + FoundTable(survey).Text();
  const std::string assumed = !survey.symbols.empty() ? " with the largest lengths"
                              : survey.assumed.empty()
                                  ? ""
                                  : fmt::format(" with {}", Assignments(survey.assumed));
  if (!survey.refusals.empty()) text += "\n" + RefusalTable(survey).Text();
  if (!survey.refusals.empty() && !assumed.empty()) {
    text += fmt::format("examined{}: refusals may be due to these sizes\n", assumed);
  }
  if (survey.unexamined_nodes > 0) {
    text += fmt::format("{} behind refused ones {} looked up only: their operators are supported\n",
                        Plural(static_cast<size_t>(survey.unexamined_nodes), "node", "nodes"),
                        survey.unexamined_nodes == 1 ? "was" : "were");
  }
  if (!survey.refusals.empty())
    text += "--partial says which parts can be compiled without these\n";
  for (const std::string& problem : survey.problems) {
    text += base::MessageInOneLine(problem) + "\n";
  }
  if (checked.work.tasks > 0) {
    text += fmt::format("\n{} in {}{}\n", report::FormatFlops(checked.work.flops),
                        Plural(static_cast<size_t>(checked.work.tasks), "task", "tasks"), assumed);
  }
  return text + DecoderText(checked.decoder);
}

/// The steps of a model of which not all is supported.
void CheckParts(const CheckOptions& options) {
  graph::PartialNetwork network = options.model.LoadPartial();
  std::vector<PartWork> work;
  PartWork all;
  for (graph::PartialStep& step : network.steps) {
    work.push_back(step.part ? WorkOf(options.model.precision.TasksOf(*std::move(step.part)))
                             : PartWork());
    all.flops += work.back().flops;
    all.tasks += work.back().tasks;
  }
  const report::Table steps = StepTable(network, work);
  if (options.json) {
    nlohmann::json shown = {{"steps", steps.Json()},
                            {"left", LeftTable(network).Json()},
                            {"parts", network.PartCount()},
                            {"translated_nodes", network.TranslatedNodes()},
                            {"left_nodes", network.LeftNodes()},
                            {"flops", all.flops},
                            {"tasks", all.tasks}};
    options.model.precision.AddTo(shown);
    fmt::print("{}\n", report::JsonText(shown));
    return;
  }
  fmt::print("{}\n", steps.Text());
  if (network.LeftNodes() > 0) fmt::print("{}\n", LeftTable(network).Text());
  fmt::print("{}: {}; the parts have {} in {}\n", base::SingleLine(options.model.path, 200),
             Summary(network), report::FormatFlops(all.flops),
             Plural(static_cast<size_t>(all.tasks), "task", "tasks"));
}

void Check(const CheckOptions& options) {
  if (options.model.partial) return CheckParts(options);
  const CheckedModel checked = Examine(options.model);
  const std::string verdict = Verdict(checked.survey);
  if (options.json) {
    nlohmann::json shown = ToJson(checked);
    options.model.precision.AddTo(shown);
    fmt::print("{}\n", report::JsonText(shown));
  } else {
    fmt::print("{}", Text(checked));
  }
  const std::string path = base::SingleLine(options.model.path, 200);
  if (!checked.survey.IsComplete()) throw CheckFailed(path + ": " + verdict);
  if (!options.json) fmt::print("{}: {}\n", path, verdict);
}

}  // namespace

void AddCheckCommand(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* check =
      app.add_subcommand("check", "Say what of a model is supported, and what it needs");
  options->model.AddTo(*check)->required();
  options->model.precision.AddTo(*check);
  options->model.AddPartialTo(
      *check, WithDetails("Say which parts can be compiled where not all is supported",
                          ", which nodes are left out, and what passes between them"));
  check->add_flag("--json", options->json, "Print JSON");
  check->footer(
      "All nodes are examined. The exit code is 0 if the model can be tuned with the\n"
      "options as they are, and 1 if it cannot or needs more of them.\n"
      "\n"
      "Examples:\n"
      "  bayloom check bert.onnx\n"
      "  bayloom check bert.onnx --dim batch=1 --dim sequence=128\n"
      "  bayloom check detector.onnx --partial");
  check->callback([options] { Check(*options); });
}

}  // namespace bayloom::cli

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "bayloom/base/file.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/network_option.h"
#include "bayloom/cli/partial_plan.h"
#include "bayloom/cli/regions.h"
#include "bayloom/graph/package.h"
#include "bayloom/report/printable.h"

namespace bayloom::cli {
namespace {

struct CompileOptions {
  NetworkOption network;
  std::string folder = ".";
  std::string name;
  std::string emit = "shared";
  bool json = false;

  codegen::LibraryForm Form() const { return *codegen::ParseLibraryForm(emit); }
};

/// The networks of one shape: "tasks", and "tuned_tasks" for each target.
nlohmann::json ToJson(const ShapedNetwork& shape) {
  nlohmann::json variants = nlohmann::json::array();
  for (const tuning::TunedNetwork& network : shape.targets) {
    variants.push_back({{"target", network.target.name}, {"tuned_tasks", network.TunedTasks()}});
    if (const tuning::DerivedTasks derived = network.Derived(); derived.count > 0) {
      variants.back()["derived"] = {{"tasks", derived.count}, {"expected_error", derived.error}};
    }
    if (!network.regions.empty()) variants.back()["regions"] = RegionsJson(network.regions);
    if (!network.cost.empty()) variants.back()["cost"] = CostJson(network.cost);
  }
  return {{"tasks", shape.targets.front().chosen.size()}, {"variants", std::move(variants)}};
}

nlohmann::json ToJson(const graph::Package& package, std::span<const ShapedNetwork> shapes) {
  nlohmann::json json = {{"library", package.library},
                         {"header", package.header},
                         {"weights_bytes", package.constant_bytes}};
  if (shapes.size() == 1) {
    json.update(ToJson(shapes.front()));
    return json;
  }
  for (const ShapedNetwork& shape : shapes) {
    nlohmann::json described = ToJson(shape);
    described["shape"] = shape.label;
    json["shapes"].push_back(std::move(described));
  }
  return json;
}

std::vector<graph::PackageShape> PackageShapes(std::span<const ShapedNetwork> networks,
                                               graph::Branches branches) {
  std::vector<graph::PackageShape> shapes;
  for (const ShapedNetwork& shape : networks) {
    graph::PackageShape& added = shapes.emplace_back();
    added.label = shape.label;
    added.network = &shape.targets.front().network;
    for (const tuning::TunedNetwork& network : shape.targets) {
      added.variants.push_back({network.target, network.Programs(), &network.network, branches,
                                network.SmallPrograms()});
    }
  }
  return shapes;
}

double Megabytes(const std::string& path) {
  return static_cast<double>(std::filesystem::file_size(path)) / 1e6;
}

/// "12.6 MB: weights 12.3 MB, in the model 4.9 MB; --max-size limits it". Programs may read weights
/// in forms of their own, such as Winograd's, and different programs the same weights in different
/// forms.
std::string SizeText(const graph::Package& package, std::span<const ShapedNetwork> networks) {
  int64_t in_model = 0;
  for (const graph::Value& value : networks.front().targets.front().network.graph.values) {
    if (value.constant) in_model += std::ssize(value.constant->data);
  }
  const auto megabytes = [](int64_t bytes) {
    return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  };
  const std::string size = fmt::format("{:.1f} MB", Megabytes(package.library));
  // Where code is most of it, the weights are not what a reader asks about.
  if (package.constant_bytes < 100'000 || package.constant_bytes < in_model * 11 / 10) return size;
  return fmt::format("{}: weights {}, in the model {}; --max-size limits it", size,
                     megabytes(package.constant_bytes), megabytes(in_model));
}

std::string NameOf(const CompileOptions& options) {
  if (!options.name.empty()) return options.name;
  return graph::ToPackageName(std::filesystem::path(options.network.model.path).stem().string());
}

/// A library for each part, a model for each step of nodes that are left out, and the plan.
void CompileParts(const CompileOptions& options) {
  const std::string name = NameOf(options);
  graph::PartialNetwork network = options.network.model.LoadPartial();
  const std::vector<ShapedNetwork> parts = options.network.LoadParts(network);
  std::vector<StepFiles> files(network.steps.size());
  nlohmann::json described = nlohmann::json::array();
  size_t part = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    if (!network.steps[i].left.empty()) continue;
    files[i].symbols = fmt::format("{}_part{}", name, part + 1);
    files[i].package =
        graph::WritePackage(PackageShapes({&parts[part], 1}, options.network.Branches()),
                            options.folder, files[i].symbols, options.Form());
    described.push_back(ToJson(files[i].package, {&parts[part], 1}));
    ++part;
  }
  const std::filesystem::path folder(options.folder);
  int64_t left = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    if (network.steps[i].left.empty()) continue;
    files[i].model = folder / fmt::format("{}_rest{}.onnx", name, ++left);
    base::WriteFile(files[i].model, network.steps[i].model);
  }
  const std::string plan = folder / fmt::format("{}.plan.json", name);
  base::WriteFile(plan, report::JsonText(PlanOf(network, files)) + "\n");
  if (options.json) {
    nlohmann::json shown = {{"plan", plan}, {"parts", std::move(described)}};
    options.network.model.precision.AddTo(shown);
    fmt::print("{}\n", report::JsonText(shown));
    return;
  }
  for (const StepFiles& step : files) {
    const std::string& file = step.model.empty() ? step.package.library : step.model;
    fmt::print("{} ({:.1f} MB)\n", base::SingleLine(file, 200), Megabytes(file));
  }
  fmt::print("{}: {}\n", base::SingleLine(plan, 200), Summary(network));
}

void Compile(const CompileOptions& options) {
  if (options.network.model.partial) return CompileParts(options);
  const std::vector<ShapedNetwork> networks = options.network.LoadForAll();
  const std::string name = NameOf(options);
  const graph::Package package = graph::WritePackage(
      PackageShapes(networks, options.network.Branches()), options.folder, name, options.Form());
  if (options.json) {
    nlohmann::json shown = ToJson(package, networks);
    options.network.model.precision.AddTo(shown);
    fmt::print("{}\n", report::JsonText(shown));
    return;
  }
  fmt::print("{} ({}), {}\n", base::SingleLine(package.library, 200), SizeText(package, networks),
             base::SingleLine(package.header, 200));
}

}  // namespace

void AddCompileCommand(CLI::App& app) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App* compile = app.add_subcommand("compile", "Compile a model to a C library");
  options->network.AddTo(*compile);
  compile->add_option("--out,-o", options->folder, "Folder to write to")
      ->option_text("DIR")
      ->default_str("the current one");
  compile->add_option("--name", options->name, "Name of the library and its functions in C")
      ->option_text("NAME")
      ->default_str("MODEL");
  compile->add_option("--emit", options->emit, "What is written: shared, static or object")
      ->check(CLI::IsMember({"shared", "static", "object"}))
      ->option_text("FORM")
      ->default_str("shared");
  options->network.model.AddPartialTo(
      *compile, WithDetails("Leave out what cannot be translated",
                            ": a library for each of the largest parts without it, a model with\n"
                            "the rest, and a plan, NAME.plan.json, that says how to run them"));
  compile->add_flag("--json", options->json, "Print JSON");
  compile->footer(WithDetails(
      "Writes libNAME.so, code and weights that need nothing of Bayloom, and NAME.h. Of\n"
      "several --targets the library uses the best that its processor can run.\n"
      "\n"
      "Examples:\n"
      "  bayloom compile resnet18.onnx --out lib\n"
      "  bayloom compile resnet18.onnx --target x86-64-v2,x86-64-v3,native\n"
      "  bayloom compile bert.onnx --dim batch=1 --dim sequence=16,64,128\n"
      "  bayloom compile detector.onnx --partial --out lib",
      "\n"
      "  bayloom compile resnet18.onnx --target aarch64-linux-gnu:neoverse-n1\n"
      "\n"
      "--emit static writes libNAME.a, --emit object NAME.o: programs link either with\n"
      "-lm -ldl -pthread. PROCESSOR has LLVM's name: cortex-a76, apple-m1."));
  compile->callback([options] { Compile(*options); });
}

}  // namespace bayloom::cli

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "bayloom/base/one_line.h"
#include "bayloom/cli/internal/commands.h"
#include "bayloom/cli/internal/network_option.h"
#include "bayloom/graph/package.h"
#include "bayloom/report/printable.h"

namespace bayloom::cli {
namespace {

struct CompileOptions {
  NetworkOption network;
  std::string folder = ".";
  std::string name;
  bool json = false;
};

/// The networks of one shape: "tasks", and "tuned_tasks" for each target.
nlohmann::json ToJson(const ShapedNetwork& shape) {
  nlohmann::json variants = nlohmann::json::array();
  for (const tuning::TunedNetwork& network : shape.targets) {
    variants.push_back({{"target", network.target.name}, {"tuned_tasks", network.TunedTasks()}});
  }
  return {{"tasks", shape.targets.front().chosen.size()}, {"variants", std::move(variants)}};
}

nlohmann::json ToJson(const graph::Package& package, const std::vector<ShapedNetwork>& shapes) {
  nlohmann::json json = {{"library", package.library}, {"header", package.header}};
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

std::vector<graph::PackageShape> PackageShapes(const std::vector<ShapedNetwork>& networks) {
  std::vector<graph::PackageShape> shapes;
  for (const ShapedNetwork& shape : networks) {
    graph::PackageShape& added = shapes.emplace_back();
    added.label = shape.label;
    added.network = &shape.targets.front().network;
    for (const tuning::TunedNetwork& network : shape.targets) {
      added.variants.push_back({network.target, network.Programs()});
    }
  }
  return shapes;
}

void Compile(const CompileOptions& options) {
  const std::vector<ShapedNetwork> networks = options.network.LoadForAll();
  const std::string name =
      options.name.empty()
          ? graph::ToPackageName(std::filesystem::path(options.network.model.path).stem().string())
          : options.name;
  const graph::Package package = graph::WritePackage(PackageShapes(networks), options.folder, name);
  if (options.json) {
    fmt::print("{}\n", report::JsonText(ToJson(package, networks)));
    return;
  }
  const double megabytes = static_cast<double>(std::filesystem::file_size(package.library)) / 1e6;
  fmt::print("{} ({:.1f} MB), {}\n", base::InOneLine(package.library, 200), megabytes,
             base::InOneLine(package.header, 200));
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
  compile->add_flag("--json", options->json, "Print JSON");
  compile->footer(
      "Writes libNAME.so, with code and weights, and NAME.h with its declarations.\n"
      "Neither depends on Bayloom. CC, else cc, links the library. --target takes\n"
      "several: the library uses the code for the best that its processor can run.\n"
      "\n"
      "Examples:\n"
      "  bayloom compile resnet18.onnx --out lib\n"
      "  bayloom compile resnet18.onnx --target x86-64-v2,x86-64-v3,native\n"
      "  bayloom compile bert.onnx --dim batch=1 --dim sequence=16,64,128");
  compile->callback([options] { Compile(*options); });
}

}  // namespace bayloom::cli

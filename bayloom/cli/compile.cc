// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "bayloom/cli/internal/commands.h"
#include "bayloom/cli/internal/network_option.h"
#include "bayloom/graph/package.h"

namespace bayloom::cli {
namespace {

struct CompileOptions {
  NetworkOption network;
  std::string folder = ".";
  std::string name;
  bool json = false;
};

nlohmann::json ToJson(const graph::Package& package,
                      const std::vector<tuning::TunedNetwork>& networks) {
  nlohmann::json variants = nlohmann::json::array();
  for (const tuning::TunedNetwork& network : networks) {
    variants.push_back({{"target", network.target.name}, {"tuned_tasks", network.TunedTasks()}});
  }
  return {{"library", package.library},
          {"header", package.header},
          {"tasks", networks.front().chosen.size()},
          {"variants", std::move(variants)}};
}

void Compile(const CompileOptions& options) {
  const std::vector<tuning::TunedNetwork> networks = options.network.LoadForAll();
  std::vector<graph::PackageVariant> variants;
  for (const tuning::TunedNetwork& network : networks) {
    variants.push_back({network.target, network.Programs()});
  }
  const std::string name =
      options.name.empty()
          ? graph::ToPackageName(std::filesystem::path(options.network.model.path).stem().string())
          : options.name;
  const graph::Package package =
      graph::WritePackage(networks.front().network, variants, options.folder, name);
  if (options.json) {
    fmt::print("{}\n", ToJson(package, networks).dump(2));
    return;
  }
  const double megabytes = static_cast<double>(std::filesystem::file_size(package.library)) / 1e6;
  fmt::print("{} ({:.1f} MB), {}\n", package.library, megabytes, package.header);
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
      "  bayloom compile resnet18.onnx --target x86-64-v2,x86-64-v3,native");
  compile->callback([options] { Compile(*options); });
}

}  // namespace bayloom::cli

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

void Compile(const CompileOptions& options) {
  const tuning::TunedNetwork network = options.network.Load();
  const std::string name =
      options.name.empty()
          ? graph::ToIdentifier(std::filesystem::path(options.network.model.path).stem().string())
          : options.name;
  const graph::Package package = graph::WritePackage(network.network, network.Programs(),
                                                     network.target, options.folder, name);
  if (options.json) {
    const nlohmann::json shown = {{"library", package.library},
                                  {"header", package.header},
                                  {"tasks", network.chosen.size()},
                                  {"tuned_tasks", network.TunedTasks()}};
    fmt::print("{}\n", shown.dump(2));
    return;
  }
  const double megabytes = static_cast<double>(std::filesystem::file_size(package.library)) / 1e6;
  fmt::print("{} ({:.1f} MB), {}\n", package.library, megabytes, package.header);
}

}  // namespace

void AddCompileCommand(CLI::App& app) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App* compile = app.add_subcommand("compile", "Make a shared library of a model");
  options->network.AddTo(*compile);
  compile->add_option("--out,-o", options->folder, "Folder to write to")->capture_default_str();
  compile->add_option("--name", options->name,
                      "Name of the library and its functions, a C identifier; default MODEL");
  compile->add_flag("--json", options->json, "Print JSON instead of text");
  compile->footer(
      "Writes libNAME.so, with code and weights, and NAME.h, which says how to call it from C.\n"
      "Neither needs anything of Bayloom. Linking uses the C compiler that CC names, or cc.\n"
      "\n"
      "Examples:\n"
      "  bayloom compile resnet18.onnx --out lib\n"
      "  bayloom compile squeezenet1.1.onnx --db squeezenet1.1.db --name squeezenet");
  compile->callback([options] { Compile(*options); });
}

}  // namespace bayloom::cli

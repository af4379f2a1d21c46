// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The program bayloom-worker: tries programs that a tuner on another machine has compiled. It needs
// neither LLVM nor any other library than those of C and C++ (docs/workers.md).

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "bayloom/base/version.h"
#include "bayloom/codegen/host.h"
#include "bayloom/measure/kernel_worker.h"
#include "bayloom/measure/load_monitor.h"
#include "bayloom/measure/runner_main.h"
#include "bayloom/remote/server.h"
#include "bayloom/target/emulated.h"

namespace bayloom {
namespace {

struct Arguments {
  int threads = 0;  ///< 0: all processors this process may run on
  bool sandbox = false;
  bool emulated = false;
};

void Work(const Arguments& arguments) {
  target::Target machine = codegen::HostTarget(arguments.threads);
  if (arguments.emulated) machine = target::Emulated(std::move(machine));
  measure::KernelOptions options;
  options.runner.sandbox = arguments.sandbox;
  measure::KernelWorker kernels(machine, std::move(options));
  remote::ServerOptions server;
  server.hello = measure::WorkerGreeting(machine, /*compiles=*/false);
  server.make_evaluator =
      [&](const nlohmann::json& definition) -> Result<std::unique_ptr<remote::CandidateEvaluator>> {
    const bool is_kernel = definition.is_object() && definition.contains("kind") &&
                           definition["kind"] == measure::kKernelKind;
    if (is_kernel) return kernels.MakeEvaluator(definition);
    return Error{"bayloom-worker tries compiled programs only; install bayloom for others"};
  };
  server.measure_machine = [](const std::function<bool()>&) -> Result<nlohmann::json> {
    return Error{"bayloom-worker has no compiler, which measuring a machine needs"};
  };
  measure::LoadMonitor load({.threads = machine.cores});
  server.note = [&] {
    const bool is_news = !target::IsEmulated(machine) && load.Look();
    return is_news ? measure::DescribeBusy(load.last()) : std::string();
  };
  remote::Serve(STDIN_FILENO, STDOUT_FILENO, server);
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Tries programs that 'bayloom tune' compiles on another machine:\n"
      "  bayloom tune resnet18.onnx --target aarch64-linux-gnu:cortex-a76 \\\n"
      "                             --workers 'ssh board bayloom-worker'\n"
      "It reads requests from standard input, writes reports to standard output, one\n"
      "JSON object a line, and ends with its input. It runs what it is sent.",
      "bayloom-worker");
  app.set_version_flag("--version", std::string(base::Version()));
  app.add_option("--threads", arguments.threads, "Threads that programs may use")
      ->option_text("N (all cores)")
      ->check(CLI::Range(1, codegen::AllowedProcessors()));
  app.add_flag("--sandbox", arguments.sandbox,
               "Programs get no network and cannot write files while they are timed");
  app.add_flag("--emulated", arguments.emulated,
               "An emulator runs this machine: check programs, and time none. Emulators of\n"
               "single programs, such as qemu-aarch64, are noticed without it");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    Work(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bayloom-worker: %s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  if (const std::optional<int> code = bayloom::measure::RunAsRunner(argc, argv)) return *code;
  return bayloom::Main(argc, argv);
}

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// A worker of the tests, whose trials take as long as it is told to: the value of a candidate is
// the candidate, times a factor.
//
//   worker_test_program FOLDER MILLISECONDS [FACTOR [IDENTITY [BEHAVIOUR]]]
//
// Writes a file named by its process number into the folder, "ended" into it once it ends by
// itself. BEHAVIOUR "mute" says nothing after the greeting, "chatty" greets with words, "unable"
// finds that it cannot try any number, "noting" has a note for the first report of its machine and
// one for the first of a trial after that. The trials of "gathering" ones fail unless trials run in
// three of them at the same time.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "bayloom/base/clock.h"
#include "bayloom/base/version.h"
#include "bayloom/remote/server.h"
#include "bayloom/trial/threaded_evaluator.h"
#include "tests/patience.h"

namespace bayloom::remote {
namespace {

/// Writes "busy" into the worker's file; false if not three workers of its folder do before long.
bool Gather(const std::filesystem::path& own) {
  std::ofstream(own) << "busy\n";
  const double deadline = base::MonotonicSeconds() + kPatienceSeconds;
  while (base::MonotonicSeconds() < deadline) {
    int busy = 0;
    for (const auto& file : std::filesystem::directory_iterator(own.parent_path())) {
      std::string line;
      std::getline(std::ifstream(file.path()), line);
      busy += line == "busy" ? 1 : 0;
    }
    if (busy >= 3) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

ServerOptions Options(int milliseconds, double factor, const std::string& identity,
                      const std::string& behaviour, const std::string& file) {
  ServerOptions options;
  options.hello.kind = Report::Kind::kHello;
  options.hello.version = base::Version();
  options.hello.identity = identity;
  options.alive_seconds = 0.1;
  options.measure_machine = [](const std::function<bool()>&) {
    return Result<nlohmann::json>(nlohmann::json("measured"));
  };
  options.make_evaluator =
      [=](const nlohmann::json& definition) -> Result<std::unique_ptr<CandidateEvaluator>> {
    if (definition != "numbers") return Error{"only numbers are known here"};
    std::vector<trial::ThreadedEvaluator<double>::Function> functions;
    functions.emplace_back([=](const double& candidate, const std::stop_token& stop) {
      if (behaviour == "gathering" && !Gather(file)) {
        return std::optional(trial::Outcome::Infeasible(trial::Verdict::kTimeout, "it was alone"));
      }
      if (behaviour == "unable") throw InputError("there is no arithmetic here");
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
      while (std::chrono::steady_clock::now() < end && !stop.stop_requested()) {
        std::this_thread::sleep_until(
            std::min(end, std::chrono::steady_clock::now() + std::chrono::milliseconds(20)));
      }
      return std::optional(trial::Outcome::Feasible(candidate * factor));
    });
    std::unique_ptr<CandidateEvaluator> evaluator =
        std::make_unique<TypedCandidateEvaluator<double>>(
            std::make_unique<trial::ThreadedEvaluator<double>>(std::move(functions)), /*slots=*/2,
            [](const nlohmann::json& json, bool) -> Result<double> {
              if (!json.is_number()) return Error{"no number"};
              return json.get<double>();
            });
    return evaluator;
  };
  return options;
}

int Main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string file = std::string(argv[1]) + "/" + std::to_string(getpid());
  std::ofstream(file) << "\n";
  const double factor = argc > 3 ? std::atof(argv[3]) : 1;
  const std::string identity = argc > 4 ? argv[4] : "test";
  const std::string behaviour = argc > 5 ? argv[5] : "";
  if (behaviour == "chatty") std::printf("Welcome to this machine\n"), std::fflush(stdout);
  ServerOptions options = Options(std::atoi(argv[2]), factor, identity, behaviour, file);
  if (behaviour == "noting") {
    options.note = [notes = 0]() mutable -> std::string {
      ++notes;
      return notes == 1 ? "the machine was busy" : notes == 2 ? "the machine\nis busy" : "";
    };
  }
  if (behaviour == "mute") {
    std::printf("%s", ToLine(options.hello).c_str());
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  Serve(STDIN_FILENO, STDOUT_FILENO, options);
  std::ofstream(file) << "ended\n";
  return 0;
}

}  // namespace
}  // namespace bayloom::remote

int main(int argc, char** argv) { return bayloom::remote::Main(argc, argv); }

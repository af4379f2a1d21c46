// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// A worker that answers each request, of any kind, with the next line of the input. What
// the pool takes from it is kept in a database, which must be one that can be read afterwards.

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "bayloom/base/json.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/version.h"
#include "bayloom/record/store.h"
#include "bayloom/remote/pool.h"
#include "bayloom/target/target_check.h"
#include "bayloom/target/target_json.h"
#include "tests/fuzz/reader.h"
#include "tests/record/sample.h"

namespace bayloom::fuzz {
namespace {

using Json = nlohmann::json;

target::MachineModel SampleMachine() {
  target::MachineModel machine;
  machine.multiply_add = {1e-10, 1e-10};
  machine.levels = {{32768, {1e-9, 1e-9}}, {0, {1e-8, 1e-8}}};
  return machine;
}

remote::PoolOptions Options(const std::string& path) {
  remote::PoolOptions options;
  options.commands = {
      "while IFS= read -r line <&3; do printf '%s\\n' \"$line\"; read -r a || exit; "
      "done 3<" +
      path};
  options.silence_seconds = options.start_seconds = options.preparation_seconds = 0.1;
  options.max_failures = 1;
  options.check_machine = [](const Json& json) -> Status {
    const Result<target::Target> target = target::CheckedTarget(json);
    return target ? Ok() : Status(target.error());
  };
  options.on_notice = [](const std::string& line) {
    if (base::SingleLine(line, line.size()) != line)
      throw std::logic_error("a notice is no line: " + line);
  };
  return options;
}

/// Keeps the outcomes as a tuning does, and reads them again.
void Keep(const std::vector<trial::FinishedTrial>& finished, const target::Target& target) {
  const std::string path = ScratchPath() + "/kept.db";
  for (const char* end : {"", "-wal", "-shm"}) std::remove((path + end).c_str());
  record::Store store(path);
  record::Context context(store);
  context.target = store.AddTarget(target);
  int64_t trials = 0;
  for (const trial::FinishedTrial& each : finished) {
    if (!each.outcome) continue;
    record::StoredTrial trial = record::MakeTrial(context, trials++, 1);
    trial.outcome = *each.outcome;
    store.AddTrial(trial);
  }
  try {
    (void)store.TargetOf(context.target);
    for (const record::StoredTrial& trial : store.TrialsOfRun(context.run)) {
      const trial::Outcome& given = *finished[static_cast<size_t>(trial.ordinal)].outcome;
      if (trial.outcome.verdict != given.verdict) throw std::logic_error("a verdict changed");
    }
  } catch (const InputError& error) {
    throw std::logic_error(std::string("a worker has damaged the database: ") + error.what());
  }
}

}  // namespace

std::vector<std::string> Seeds() {
  target::Target target = record::SampleTarget();
  remote::Report hello;
  hello.kind = remote::Report::Kind::kHello;
  hello.version = base::Version();
  hello.identity = "sample-2";
  hello.body = target::TargetToJson(target);
  target.machine = SampleMachine();
  remote::Report machine;
  machine.kind = remote::Report::Kind::kMachine;
  machine.body = target::TargetToJson(target);
  machine.note = "the machine is busy";
  std::string text = remote::ToLine(hello) + remote::ToLine(machine);
  remote::Report subject;
  subject.kind = remote::Report::Kind::kSubject;
  subject.subject = 1;
  subject.slots = 1;
  text += remote::ToLine(subject);
  for (int lease = 1; lease <= 3; ++lease) {
    remote::Report outcome;
    outcome.kind = remote::Report::Kind::kOutcome;
    outcome.lease = lease;
    outcome.outcome = trial::Outcome::Feasible(1e-6 * lease);
    outcome.outcome.Set("spread", 0.01);
    outcome.outcome.Set("build_seconds", 0.5);
    text += remote::ToLine(outcome);
  }
  return {text};
}

void Read(const std::string& input) {
  remote::WorkerPool pool(Options(WriteScratch("answers", input)));
  const Result<Json> machine = pool.MeasureMachine();
  const target::Target target = target::TargetFromJson(machine ? *machine : pool.hello().body);
  const remote::SubjectId subject = pool.AddSubject("programs", /*is_timed=*/true, 0.1);
  std::vector<trial::FinishedTrial> finished;
  for (int i = 0; i < 3; ++i) pool.Submit(subject, i, i, /*is_repeat=*/false);
  while (finished.size() < 3) {
    for (trial::FinishedTrial& each : pool.Collect(10, [] { return false; })) {
      finished.push_back(std::move(each));
    }
  }
  std::erase_if(finished, [](const trial::FinishedTrial& each) { return !each.outcome; });
  Keep(finished, target);
}

/// A value somewhere in one of the lines becomes another.
std::optional<std::string> MutateStructure(const std::string& input, base::RandomStream& random) {
  static const Json kValues[] = {nullptr,
                                 true,
                                 -1,
                                 0,
                                 5e-324,
                                 1e308,
                                 -1e308,
                                 INT64_MAX,
                                 UINT64_MAX,
                                 INT64_MIN,
                                 0.5,
                                 65536,
                                 "",
                                 "x",
                                 "\x1b[31m\n",
                                 Json::object(),
                                 Json::array(),
                                 std::string(100'000, 'x'),
                                 Json::array({1, 2})};
  std::vector<std::string> lines;
  std::istringstream in(input);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  if (lines.empty()) return std::nullopt;
  std::string& line = lines[random.UniformInt(std::ssize(lines))];
  Json json = base::ParseJsonOrDiscard(line);
  if (json.is_discarded()) return std::nullopt;
  Json* place = &json;
  while (place->is_structured() && !place->empty() && random.UniformInt(5) != 0) {
    auto member = place->begin();
    std::advance(member, random.UniformInt(std::ssize(*place)));
    place = &*member;
  }
  *place = kValues[random.UniformInt(std::ssize(kValues))];
  line = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string mutated;
  for (const std::string& each : lines) mutated += each + "\n";
  return mutated;
}

}  // namespace bayloom::fuzz

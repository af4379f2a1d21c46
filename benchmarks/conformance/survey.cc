// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/conformance/survey.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>

namespace bayloom {
namespace {

namespace fs = std::filesystem;

std::string KindOfType(const onnx::TypeProto& type) {
  constexpr int kFirstSmallType = onnx::TensorProto::BFLOAT16 + 1;
  if (!type.has_tensor_type()) return "sequences";
  const int element = type.tensor_type().elem_type();
  if (element == onnx::TensorProto::STRING) return "strings";
  return element >= kFirstSmallType ? "small types" : "numeric";
}

std::string KindOf(const onnx::ModelProto& model) {
  for (const auto& node : model.graph().node()) {
    if (node.domain() == "ai.onnx.ml") return node.domain();
    if (node.domain().starts_with("ai.onnx.preview.training")) return "training";
    if (node.op_type().find("Sequence") != std::string::npos) return "sequences";
  }
  std::string kind = "numeric";
  const auto add = [&](const auto& values) {
    for (const auto& value : values) {
      const std::string one = KindOfType(value.type());
      if (one != "numeric") kind = one;
    }
  };
  add(model.graph().input());
  add(model.graph().output());
  return kind;
}

void Describe(const std::string& folder, SurveyedTest& test) {
  onnx::ModelProto model;
  std::ifstream file(folder + "/model.onnx", std::ios::binary);
  if (!model.ParseFromIstream(&file)) return;
  test.kind = KindOf(model);
  if (model.graph().node_size() == 0) return;
  const onnx::NodeProto& node = model.graph().node(0);
  const bool is_own = node.domain().empty() || node.domain() == "ai.onnx";
  test.op = is_own ? node.op_type() : node.domain() + "." + node.op_type();
}

/// In the child: the outcome's number and the reason, as text.
std::string RunTest(const std::string& folder, const graph::GraphEvaluator& evaluate) {
  try {
    const graph::ConformanceResult result = graph::RunConformanceTest(folder, evaluate);
    return fmt::format("{}{}", static_cast<int>(result.verdict), result.reason);
  } catch (const std::exception& error) {
    return fmt::format("{}{}", static_cast<int>(Outcome::kCrashed), error.what());
  }
}

std::string ReadAll(int descriptor) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t count = read(descriptor, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

/// Runs in a child process, so that a crash or an endless loop costs one test.
void RunInChild(const std::string& folder, const graph::GraphEvaluator& evaluate, int seconds,
                SurveyedTest& test) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    alarm(static_cast<unsigned>(seconds));
    const std::string text = RunTest(folder, evaluate);
    const bool written = write(ends[1], text.data(), text.size()) >= 0;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  const std::string text = ReadAll(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !text.empty();
  test.outcome = ended ? static_cast<Outcome>(text[0] - '0') : Outcome::kCrashed;
  if (ended) {
    test.reason = text.substr(1);
  } else if (WIFSIGNALED(status)) {
    test.reason = WTERMSIG(status) == SIGALRM ? fmt::format("more than {} s", seconds)
                                              : strsignal(WTERMSIG(status));
  }
}

}  // namespace

static_assert(static_cast<int>(Outcome::kWrong) ==
              static_cast<int>(graph::ConformanceVerdict::kWrong));

std::string ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kWrong:
      return "wrong";
    case Outcome::kCrashed:
      return "crashed";
  }
  return "";
}

std::vector<SurveyedTest> Survey(const std::string& root, const graph::GraphEvaluator& evaluate,
                                 int seconds) {
  std::vector<std::string> folders;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path().string());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<SurveyedTest> tests;
  for (const std::string& folder : folders) {
    SurveyedTest test;
    test.name = fs::path(folder).filename().string();
    Describe(folder, test);
    RunInChild(folder, evaluate, seconds, test);
    tests.push_back(std::move(test));
  }
  return tests;
}

}  // namespace bayloom

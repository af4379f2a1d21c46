// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/result_file.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sched.h>

#include <cstdio>
#include <ctime>
#include <fstream>

#include "bayloom/base/result.h"

namespace bayloom {
namespace {

/// The rest of the first line that begins with `key`, without separators and quotes.
std::string FieldOf(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t first = line.find_first_not_of(" \t:=\"", key.size());
    if (first == std::string::npos) break;
    return line.substr(first, line.find_last_not_of(" \"") + 1 - first);
  }
  return "unknown";
}

/// Names of virtual machines' processors say little: "AMD EPYC, family 25 model 17".
std::string Processor() {
  const auto field = [](const char* key) { return FieldOf("/proc/cpuinfo", key); };
  return fmt::format("{}, family {} model {}", field("model name"), field("cpu family"),
                     field("model\t"));
}

int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// What a command prints, without the line's end; empty if it fails.
std::string OutputOf(const char* command) {
  std::string output;
  std::FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return output;
  for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe)) {
    output += static_cast<char>(c);
  }
  return pclose(pipe) == 0 ? output : "";
}

std::string Commit() {
  const std::string commit = OutputOf("git rev-parse --short HEAD 2>/dev/null");
  if (commit.empty()) return "unknown";
  const bool changed = !OutputOf("git status --porcelain --untracked-files=no").empty();
  return changed ? commit + " with changes" : commit;
}

/// The command line as a shell would read it.
std::string CommandLine(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain = word.find_first_of(" '\"()|&;<>*?$\\") == std::string::npos;
    line += (i > 0 ? " " : "") + (plain ? word : fmt::format("'{}'", word));
  }
  return line;
}

}  // namespace

void WriteResult(const std::string& path, const BenchmarkResult& result, int argc,
                 const char* const* argv) {
  nlohmann::ordered_json file = {
      {"title", result.title},
      {"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))},
      {"commit", Commit()},
      {"machine",
       {{"processor", Processor()},
        {"cores", UsableCores()},
        {"system", FieldOf("/etc/os-release", "PRETTY_NAME")}}},
      {"command", {CommandLine(argc, argv)}},
      {"peers", result.peers}};
  if (!result.note.empty()) file["note"] = result.note;
  std::string text = file.dump(1);
  text.resize(text.size() - 2);  // the line's end and the closing brace
  text += ",\n \"rows\": [";
  for (size_t i = 0; i < result.rows.size(); ++i) {
    text += (i > 0 ? ",\n  " : "\n  ") + result.rows[i].dump();
  }
  text += "\n ]\n}\n";
  std::ofstream out(path);
  if (!(out << text << std::flush)) throw InputError(path + ": cannot write");
}

}  // namespace bayloom

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// fuzz_NAME --inputs N [--seconds S] [--seed K] [--corpus DIR] [--found DIR]: gives a reader
// the inputs that ever were findings, then mutations of its seeds. Readers run in a child process:
// a crash or a hang is counted, its input kept, and the next child goes on behind it.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/clock.h"
#include "bayloom/base/random.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/try.h"
#include "tests/temporary_folder.h"

namespace bayloom::fuzz {
namespace {

namespace fs = std::filesystem;

/// An input hangs when reading it takes so much time of the processor, or (as when it waits for
/// something) so much time at all; other programs may use the processor meanwhile.
constexpr double kHangProcessorSeconds = 20;
constexpr double kHangSeconds = 300;
constexpr rlim_t kMaxMemory = rlim_t{6} << 30;

struct Options {
  std::string name;
  int64_t inputs = 1000;
  double seconds = 1e9;
  uint64_t seed = 1;
  std::string corpus;
  std::string found;
};

/// What the child tells the parent, in memory that both see.
struct Progress {
  std::atomic<int64_t> next = 0;            ///< the input that is being read
  std::atomic<double> begun = 0;            ///< when reading it began
  std::atomic<double> begun_processor = 0;  ///< the child's processor time then
  std::atomic<int64_t> counts[kVerdicts] = {};
};

const TemporaryFolder& Folder() {
  static const TemporaryFolder folder;
  return folder;
}

std::vector<std::string> FilesOf(const std::string& folder) {
  std::vector<fs::path> paths;
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> contents;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    contents.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return contents;
}

/// Runs a reader over numbered inputs.
class Campaign {
 public:
  explicit Campaign(const Options& options)
      : options_(options),
        known_(FilesOf(options.corpus + "/crashes/" + options.name)),
        seeds_(MakeSeeds(options)),
        progress_(new (MapShared()) Progress) {}

  /// Whether there was no finding.
  bool Run() {
    const double begun = base::MonotonicSeconds();
    const int64_t all = std::ssize(known_) + options_.inputs;
    while (progress_->next < all && base::MonotonicSeconds() < begun + options_.seconds) {
      RunChild(all, begun + options_.seconds);
    }
    Report(base::MonotonicSeconds() - begun);
    return hangs_ + crashes_ + Count(Verdict::kBadMessage) + Count(Verdict::kInternalError) == 0;
  }

 private:
  static void* MapShared() {
    void* memory =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return memory;
  }

  int64_t Count(Verdict verdict) const { return progress_->counts[static_cast<int>(verdict)]; }

  /// The reader's seeds and those of the corpus. They are made and tried in a process of their own:
  /// threads that a library starts would not be there in the children.
  static std::vector<std::string> MakeSeeds(const Options& options) {
    const std::string folder = ScratchPath() + "/seeds";
    fs::create_directory(folder);
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("cannot fork");
    if (child == 0) _exit(WriteSeeds(folder, options.corpus + "/" + options.name));
    int status = 0;
    waitpid(child, &status, 0);
    std::vector<std::string> seeds = FilesOf(folder);
    if (status != 0 || seeds.empty()) throw std::runtime_error("the reader has no seeds");
    return seeds;
  }

  /// 0, or 1 where one is refused: a campaign on such seeds tests nothing.
  static int WriteSeeds(const std::string& folder, const std::string& corpus) {
    std::vector<std::string> seeds = Seeds();
    for (std::string& file : FilesOf(corpus)) seeds.push_back(std::move(file));
    for (size_t i = 0; i < seeds.size(); ++i) {
      const Finding finding = Try(seeds[i]);
      if (finding.verdict != Verdict::kAccepted) {
        std::fprintf(stderr, "a seed is refused: %s\n", finding.message.c_str());
        return 1;
      }
      std::ofstream(folder + "/" + std::to_string(100 + i), std::ios::binary)
          .write(seeds[i].data(), std::ssize(seeds[i]));
    }
    return 0;
  }

  std::string InputOf(int64_t number) const {
    if (number < std::ssize(known_)) return known_[static_cast<size_t>(number)];
    base::RandomStream random(options_.seed * 1000003 + static_cast<uint64_t>(number));
    return Mutate(seeds_, random);
  }

  void RunChild(int64_t end, double deadline) {
    std::fflush(nullptr);
    progress_->begun = base::MonotonicSeconds();
    progress_->begun_processor = 0;
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("cannot fork");
    if (child == 0) {
      LimitChild();
      ReadInputs(end, deadline);
      std::fflush(nullptr);
      _exit(0);
    }
    bool hung = false;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      usleep(5000);
      if (hung || !Hangs(child)) continue;
      hung = true;
      kill(child, SIGKILL);
    }
    if (!hung && WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    ++(hung ? hangs_ : crashes_);
    Keep(progress_->next, hung ? "hang" : "crash", "");
    ++progress_->next;
  }

  bool Hangs(pid_t child) const {
    clockid_t clock;
    if (clock_getcpuclockid(child, &clock) != 0) return false;
    return ProcessorSeconds(clock) - progress_->begun_processor > kHangProcessorSeconds ||
           base::MonotonicSeconds() - progress_->begun > kHangSeconds;
  }

  static double ProcessorSeconds(clockid_t clock) {
    timespec time = {};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  static void LimitChild() {
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
#ifndef __SANITIZE_ADDRESS__
    const rlimit memory = {kMaxMemory, kMaxMemory};
    setrlimit(RLIMIT_AS, &memory);
#endif
  }

  void ReadInputs(int64_t end, double deadline) {
    for (int64_t number = progress_->next; number < end; progress_->next = ++number) {
      progress_->begun = base::MonotonicSeconds();
      progress_->begun_processor = ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID);
      if (progress_->begun > deadline) return;
      const Finding finding = Try(InputOf(number));
      ++progress_->counts[static_cast<int>(finding.verdict)];
      if (finding.verdict == Verdict::kBadMessage || finding.verdict == Verdict::kInternalError) {
        Keep(number, ToString(finding.verdict), finding.message);
      }
    }
  }

  /// Says what was found and keeps the input, to be looked at and to become a test.
  void Keep(int64_t number, std::string_view what, std::string_view message) const {
    std::string name = options_.name + "-" + std::to_string(options_.seed) + "-" +
                       std::to_string(number) + "-" + std::string(what.substr(0, what.find(' ')));
    std::fprintf(stderr, "%s: input %lld: %.*s %.*s\n", options_.name.c_str(),
                 static_cast<long long>(number), static_cast<int>(what.size()), what.data(),
                 static_cast<int>(std::min<size_t>(message.size(), 300)), message.data());
    if (options_.found.empty()) return;
    fs::create_directories(options_.found);
    const std::string input = InputOf(number);
    std::ofstream(options_.found + "/" + name, std::ios::binary)
        .write(input.data(), std::ssize(input));
  }

  /// One line, in the order of the columns that scripts/fuzz prints.
  void Report(double seconds) const {
    std::printf("| %s | %lld | %lld | %lld | %lld | %lld | %lld | %lld | %lld | %.0f |\n",
                options_.name.c_str(), static_cast<long long>(progress_->next.load()),
                static_cast<long long>(Count(Verdict::kAccepted)),
                static_cast<long long>(Count(Verdict::kRefused)), static_cast<long long>(crashes_),
                static_cast<long long>(hangs_),
                static_cast<long long>(Count(Verdict::kInternalError)),
                static_cast<long long>(Count(Verdict::kBadMessage)),
                static_cast<long long>(Count(Verdict::kMachine)), seconds);
  }

  Options options_;
  std::vector<std::string> known_;  ///< inputs that ever were findings
  std::vector<std::string> seeds_;
  Progress* progress_;
  int64_t crashes_ = 0;
  int64_t hangs_ = 0;
};

template <typename Number>
Number NumberOf(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::runtime_error("no number: " + std::string(text));
  }
  return number;
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  options.name = fs::path(argv[0]).filename().string();
  options.name.erase(0, std::string_view("fuzz_").size());
  options.corpus = BAYLOOM_FUZZ_CORPUS;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    const std::string value = argv[i + 1];
    if (option == "--inputs") {
      options.inputs = NumberOf<int64_t>(value);
    } else if (option == "--seconds") {
      options.seconds = NumberOf<double>(value);
    } else if (option == "--seed") {
      options.seed = NumberOf<uint64_t>(value);
    } else if (option == "--corpus") {
      options.corpus = value;
    } else if (option == "--found") {
      options.found = value;
    } else {
      throw std::runtime_error("unknown option " + std::string(option));
    }
  }
  return options;
}

}  // namespace

const std::string& ScratchPath() { return Folder().path(); }

}  // namespace bayloom::fuzz

int main(int argc, char** argv) {
  try {
    return bayloom::fuzz::Campaign(bayloom::fuzz::ParseOptions(argc, argv)).Run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}

// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Linked to bayloom_c_library (cmake/portable): calls what is newer than the C library that it is
// linked against. Prints what went wrong and fails, or says nothing.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

int failures = 0;

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s\n", what);
  ++failures;
}

struct Constructed {
  Constructed() : text(std::make_unique<std::string>("constructed")) {}
  std::unique_ptr<std::string> text;
};
const Constructed constructed;  // by a constructor that runs before main

void Throw(int depth) {
  const std::string held(100, 'x');
  if (depth == 0) throw std::runtime_error(held);
  Throw(depth - 1);
}

bool IsCaught() {
  try {
    Throw(10);
  } catch (const std::runtime_error& error) {
    return std::strlen(error.what()) == 100;
  }
  return false;
}

void CheckFiles(const char* self) {
  struct stat of_path {};
  struct stat of_file {};
  struct stat of_link {};
  Expect(stat(self, &of_path) == 0 && of_path.st_size > 0, "stat");
  std::FILE* file = std::fopen(self, "rb");
  Expect(file != nullptr && fstat(fileno(file), &of_file) == 0, "fstat");
  std::fclose(file);
  Expect(of_file.st_ino == of_path.st_ino && of_file.st_size == of_path.st_size,
         "fstat: another file");
  Expect(lstat("/proc/self/exe", &of_link) == 0 && S_ISLNK(of_link.st_mode), "lstat");
  Expect(std::filesystem::file_size(self) == static_cast<size_t>(of_path.st_size),
         "std::filesystem");
  Expect(stat("/no/such/file", &of_path) == -1 && errno == ENOENT, "stat of no file");
}

void CheckRandom() {
  std::random_device device;
  std::set<unsigned> values;
  for (int i = 0; i < 8; ++i) values.insert(device());
  Expect(values.size() > 4, "std::random_device");
}

void CheckWaiting() {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  const bool signalled =
      condition.wait_for(lock, std::chrono::milliseconds(20), [] { return false; });
  Expect(!signalled, "wait_for: signalled");
  Expect(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(20),
         "wait_for: too short");

  bool ready = false;
  std::thread other([&] {
    const std::lock_guard guard(mutex);
    ready = true;
    condition.notify_one();
  });
  Expect(condition.wait_for(lock, std::chrono::minutes(10), [&] { return ready; }), "notify_one");
  lock.unlock();
  other.join();
}

}  // namespace

int main(int argc, char** argv) {
  Expect(argc == 1 && argv[1] == nullptr, "arguments");
  Expect(constructed.text != nullptr && *constructed.text == "constructed", "constructors");
  Expect(IsCaught(), "exceptions");
  Expect(gettid() == getpid(), "gettid");
  Expect(std::string(sigabbrev_np(SIGSEGV)) == "SEGV" && sigabbrev_np(SIGVTALRM)[0] == 'V' &&
             sigabbrev_np(0) == nullptr && sigabbrev_np(9999) == nullptr,
         "sigabbrev_np");
  CheckFiles(argv[0]);
  CheckRandom();
  CheckWaiting();
  return failures == 0 ? 0 : 1;
}

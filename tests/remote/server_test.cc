// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/remote/server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include "bayloom/base/clock.h"
#include "tests/patience.h"

namespace bayloom::remote {
namespace {

/// What is written to it can be read.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_), 0); }
  ~Pipe() {
    close(ends_[0]);
    CloseInput();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int output() const { return ends_[0]; }
  int input() const { return ends_[1]; }
  void CloseInput() {
    if (ends_[1] >= 0) close(std::exchange(ends_[1], -1));
  }

 private:
  int ends_[2];
};

TEST(WorkerServer, EndsWithItsInputWhateverWaits) {
  Pipe requests, reports;
  std::string lines;
  for (int i = 0; i < 5; ++i) lines += ToLine(Request{.kind = Request::Kind::kMachine});
  ASSERT_EQ(write(requests.input(), lines.data(), lines.size()), std::ssize(lines));
  int begun = 0;
  bool was_stopped = false;
  ServerOptions options;
  options.measure_machine = [&](const std::function<bool()>& stop) -> Result<nlohmann::json> {
    ++begun;
    requests.CloseInput();
    const double deadline = base::MonotonicSeconds() + kPatienceSeconds;
    while (!(was_stopped = stop()) && base::MonotonicSeconds() < deadline) {
      std::this_thread::yield();
    }
    return nlohmann::json("half of it");
  };
  Serve(requests.output(), reports.input(), options);
  EXPECT_EQ(begun, 1);
  EXPECT_TRUE(was_stopped);
}

}  // namespace
}  // namespace bayloom::remote

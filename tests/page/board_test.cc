// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/board.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "tests/page/page_sample.h"
#include "tests/patience.h"
#include "tests/temporary_folder.h"

namespace bayloom::page {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A connection to a port of this machine.
class Client {
 public:
  explicit Client(int port, const char* address = "127.0.0.1") {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address, &to.sin_addr);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0;
    const timeval patience = {static_cast<time_t>(kPatienceSeconds), 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void Ask(const std::string& path, const std::string& host, const std::string& more = "") {
    const std::string request =
        "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n";
    EXPECT_EQ(send(socket_, request.data(), request.size(), MSG_NOSIGNAL), std::ssize(request));
  }
  /// What has come once `end` is in it, or the connection is closed.
  std::string ReadUntil(const std::string& end) {
    char buffer[4096];
    while (text_.find(end) == std::string::npos) {
      const ssize_t count = recv(socket_, buffer, sizeof(buffer), 0);
      if (count <= 0) break;
      text_.append(buffer, static_cast<size_t>(count));
    }
    return text_;
  }
  void Forget() { text_.clear(); }

 private:
  int socket_;
  bool connected_;
  std::string text_;
};

class BoardTest : public testing::Test {
 protected:
  BoardTest() { board_ = std::make_unique<Board>(path_, 0); }
  ~BoardTest() override { End(); }

  void Begin() {
    thread_ = std::thread([this] { board_->Run([this] { return stop_.load(); }); });
  }
  void End() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::string Host() const { return "127.0.0.1:" + std::to_string(board_->port()); }
  std::string Get(const std::string& path, const std::string& host) {
    Client client(board_->port());
    client.Ask(path, host, "Connection: close\r\n");
    return client.ReadUntil("\n\n\n\n");  // until it is closed
  }
  void AddTrial(int64_t ordinal, double value) {
    store_.AddTrial(record::MakeConfiguration(run_, ordinal, value));
  }
  /// The data of the last complete event in a text.
  static nlohmann::json DataIn(const std::string& text) {
    const size_t at = text.rfind("data: ") + 6;
    return nlohmann::json::parse(text.substr(at, text.find('\n', at) - at));
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "a.db";
  record::Store store_{path_};
  const record::RunId run_ = store_.BeginRun(record::SampleSearch("flags")).id;
  std::unique_ptr<Board> board_;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
};

TEST_F(BoardTest, AnswersThePageAndItsData) {
  AddTrial(0, 2.5);
  Begin();
  const std::string page = Get("/", Host());
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy: default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("data-kind=\"live\""));
  EXPECT_THAT(Get("/", "localhost:" + std::to_string(board_->port())), StartsWith("HTTP/1.1 200"));
  // The board polls: the trial was added after it had opened the database.
  const double begun = base::MonotonicSeconds();
  std::vector<nlohmann::json> rows;
  while (rows.empty() && base::MonotonicSeconds() < begun + kPatienceSeconds) {
    const std::string answer = Get("/data.json", Host());
    rows = RowsOf(nlohmann::json::parse(answer.substr(answer.find("\r\n\r\n") + 4)));
  }
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["value"], 2.5);
  EXPECT_THAT(Get("/etc/passwd", Host()), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Get("/../a.db", Host()), StartsWith("HTTP/1.1 404"));
}

TEST_F(BoardTest, RefusesRequestsForOtherNames) {
  Begin();
  for (const std::string& host :
       {std::string("evil.example"), std::string("127.0.0.1"),
        "evil.example:" + std::to_string(board_->port()), std::string("127.0.0.1:1")}) {
    for (const char* path : {"/", "/data.json", "/events"}) {
      const std::string answer = Get(path, host);
      EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << host << path;
      EXPECT_EQ(answer.find("flags"), std::string::npos);
    }
  }
}

TEST_F(BoardTest, ListensOnNoOtherAddress) {
  Begin();
  EXPECT_TRUE(Client(board_->port()).connected());
  EXPECT_FALSE(Client(board_->port(), "127.0.0.2").connected());
}

TEST_F(BoardTest, StreamsTrialsWhileTheyAreAdded) {
  Begin();
  Client client(board_->port());
  client.Ask("/events", Host());
  nlohmann::json known = nlohmann::json::object();
  EXPECT_THAT(client.ReadUntil("\n\n\r\n"), HasSubstr("text/event-stream"));
  Merge(known, DataIn(client.ReadUntil("\n\n\r\n")));
  for (int i = 0; i < 5; ++i) {
    client.Forget();
    AddTrial(i, 10 + i);
    const std::string text = client.ReadUntil("\n\n\r\n");
    ASSERT_THAT(text, HasSubstr("id: "));
    Merge(known, DataIn(text));
  }
  const std::vector<nlohmann::json> rows = RowsOf(known);
  ASSERT_EQ(rows.size(), 5u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(rows[static_cast<size_t>(i)]["value"], 10 + i);
  EXPECT_EQ(ItemOf(known, "runs", run_)["best"]["value"], 14);

  // A page that connects again names what it has, and gets the rest alone.
  const std::string cursor = known["cursor"];
  AddTrial(5, 1);
  Client again(board_->port());
  again.Ask("/events?cursor=nonsense", Host(), "Last-Event-ID: " + cursor + "\r\n");
  const std::string text = again.ReadUntil("data: ");
  const std::vector<nlohmann::json> rest = RowsOf(DataIn(again.ReadUntil("\n\n\r\n")));
  ASSERT_EQ(rest.size(), 1u) << text;
  EXPECT_EQ(rest[0]["trial"], 5);
}

TEST_F(BoardTest, AsksPagesOfAnotherBoardToLoadAgain) {
  Begin();
  for (const char* cursor : {"1.1_1.5", "nonsense"}) {
    Client client(board_->port());
    client.Ask(std::string("/events?cursor=") + cursor, Host());
    EXPECT_THAT(client.ReadUntil("event: reload"), HasSubstr("event: reload")) << cursor;
  }
}

TEST_F(BoardTest, AReplacedDatabaseIsReadInPlaceOfTheOld) {
  AddTrial(0, 1);
  Begin();
  Client client(board_->port());
  client.Ask("/events", Host());
  client.ReadUntil("\n\n\r\n");
  const std::string other = folder_ / "b.db";
  {
    record::Store store(other);
    store.BeginRun(record::SampleSearch("another"));
  }
  for (const char* file : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + file);
  std::filesystem::rename(other, path_);
  EXPECT_THAT(client.ReadUntil("event: reload"), HasSubstr("event: reload"));
  EXPECT_THAT(Get("/data.json", Host()), HasSubstr("another"));
}

TEST_F(BoardTest, GoesOnWhenPagesAreClosed) {
  Begin();
  for (int i = 0; i < 20; ++i) {
    Client client(board_->port());
    client.Ask("/events", Host());
    if (i % 2 == 0) client.ReadUntil("data: ");
    AddTrial(i, i);
  }
  EXPECT_THAT(Get("/", Host()), StartsWith("HTTP/1.1 200"));
}

TEST_F(BoardTest, EndsAtOnceWithPagesOpen) {
  Begin();
  Client client(board_->port());
  client.Ask("/events", Host());
  client.ReadUntil("data: ");
  const double begun = base::MonotonicSeconds();
  End();
  EXPECT_LT(base::MonotonicSeconds() - begun, kPatienceSeconds);
  board_.reset();
  client.Forget();
  EXPECT_EQ(client.ReadUntil("\n\n\n\n"), "");  // it is closed
}

TEST_F(BoardTest, AnotherProgramsPortIsRefusedInOneLine) {
  EXPECT_THAT([&] { Board(path_, board_->port()); },
              testing::ThrowsMessage<InputError>(testing::AllOf(
                  HasSubstr("cannot listen on port " + std::to_string(board_->port())),
                  HasSubstr("; 0 chooses a free one"), testing::Not(HasSubstr("\n")))));
}

/// Sockets of this process at a port, which is not the client's.
int CountSockets(int port) {
  int count = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    sockaddr_in address = {};
    socklen_t size = sizeof(address);
    const int descriptor = std::stoi(each.path().filename().string());
    count += getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
             address.sin_family == AF_INET && ntohs(address.sin_port) == port;
  }
  return count;
}

TEST_F(BoardTest, HasNotMoreConnectionsThanItsLimit) {
  Begin();
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 300; ++i) idle.push_back(std::make_unique<Client>(board_->port()));
  idle.front()->Ask("/", Host());
  EXPECT_THAT(idle.front()->ReadUntil("\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_LE(CountSockets(board_->port()), 256 + 1);
  idle.erase(idle.begin(), idle.end() - 1);
  idle.back()->Ask("/", Host());
  EXPECT_THAT(idle.back()->ReadUntil("\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(BoardTest, WaitsForDescriptorsWithoutAWord) {
  Begin();
  Client first(board_->port());  // the loop runs
  first.Ask("/", Host());
  first.ReadUntil("</html>");
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  testing::internal::CaptureStderr();
  const int last = dup(STDERR_FILENO);
  close(last);
  rlimit none_left = before;
  none_left.rlim_cur = static_cast<rlim_t>(last) + 1;  // the client's socket is the last
  setrlimit(RLIMIT_NOFILE, &none_left);
  Client client(board_->port());
  client.Ask("/", Host());
  const double begun = base::MonotonicSeconds();
  first.Forget();
  first.Ask("/", Host());  // those that are open are answered meanwhile
  EXPECT_THAT(first.ReadUntil("\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_LT(base::MonotonicSeconds(), begun + kPatienceSeconds);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT(client.ReadUntil("\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Board, WaitsForADatabase) {
  const TemporaryFolder folder;
  const std::string path = folder / "later.db";
  Board board(path, 0);
  EXPECT_TRUE(board.waits());
  std::atomic<bool> stop = false;
  std::thread thread([&] { board.Run([&] { return stop.load(); }); });
  const std::string host = "127.0.0.1:" + std::to_string(board.port());
  const auto get = [&](const std::string& what) {
    Client client(board.port());
    client.Ask(what, host, "Connection: close\r\n");
    return client.ReadUntil("\n\n\n\n");
  };
  for (const char* what : {"/", "/data.json", "/events"}) {
    EXPECT_THAT(get(what), testing::AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("Refresh: "),
                                          HasSubstr("not there yet")));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  record::Store(path).BeginRun(record::SampleSearch("flags"));
  std::string page;
  const double deadline = base::MonotonicSeconds() + kPatienceSeconds;
  // The first page may be of the database before its run.
  while (page.find("flags") == std::string::npos && base::MonotonicSeconds() < deadline) {
    page = get("/");
  }
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(page.find("flags") != std::string::npos);
  stop = true;
  thread.join();
}

}  // namespace
}  // namespace bayloom::page

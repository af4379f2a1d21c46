// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/board.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <list>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/option_error.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/page/page_html.h"
#include "bayloom/page/page_reader.h"
#include "bayloom/record/store.h"

namespace bayloom::page {
namespace {

constexpr double kStopPollSeconds = 0.05;
constexpr double kDatabasePollSeconds = 0.25;
/// Details take long to make: pages are answered in between, and once all were made, so many times
/// as long is waited before some are made again, and this long at least, for the machine may be
/// timing programs.
constexpr double kDetailsPause = 20, kMinDetailsPauseSeconds = 2;
constexpr double kDetailsSeconds = 0.25;
/// Something is sent to each page that often, so that a broken connection is noticed.
constexpr double kHeartbeatSeconds = 15;
constexpr int kRequestTimeoutSeconds = 30;
constexpr size_t kMaxStreams = 100;
constexpr int64_t kMaxConnections = 256;
/// Descriptors for the database, the event loop, libraries and standard streams.
constexpr int64_t kOtherDescriptors = 20;
constexpr int kWaitingPageSeconds = 2;
constexpr int64_t kMaxHeaderBytes = 1 << 17;
/// A page that has not taken this much yet is sent nothing more for now.
constexpr size_t kMaxUnsentBytes = 1 << 20;

timeval TimevalOf(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  return {whole, static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)};
}

/// Changes whenever a file is written to or replaced: inode, size, time.
using FileState = std::array<int64_t, 4>;
bool IsEmpty(const FileState& state) { return state[1] == 0; }

FileState StateOf(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {static_cast<int64_t>(status.st_ino), status.st_size, status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec};
}

/// How many connections there may be, so that descriptors are left for everything else.
int64_t MaxConnections() {
  rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return kMaxConnections;
  return std::clamp(static_cast<int64_t>(limit.rlim_cur) - kOtherDescriptors, int64_t{1},
                    kMaxConnections);
}

/// This end's port of a socket; 0 for what is none.
int PortOf(int descriptor) {
  sockaddr_in address = {};
  socklen_t size = sizeof(address);
  const bool is_known =
      getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
      address.sin_family == AF_INET;
  return is_known ? ntohs(address.sin_port) : 0;
}

/// Ends writing to a connection that is gone by an error instead of the process.
class IgnoreBrokenPipes {
 public:
  IgnoreBrokenPipes() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before_);
  }
  ~IgnoreBrokenPipes() { sigaction(SIGPIPE, &before_, nullptr); }
  IgnoreBrokenPipes(const IgnoreBrokenPipes&) = delete;
  IgnoreBrokenPipes& operator=(const IgnoreBrokenPipes&) = delete;

 private:
  struct sigaction before_ = {};
};

void AddHeader(evhttp_request* request, const char* name, const std::string& value) {
  evhttp_add_header(evhttp_request_get_output_headers(request), name, value.c_str());
}

std::string HeaderOf(evhttp_request* request, const char* name) {
  const char* value = evhttp_find_header(evhttp_request_get_input_headers(request), name);
  return value == nullptr ? "" : value;
}

}  // namespace

class Board::Server {
 public:
  Server(const std::string& database, int port);

  int port() const { return port_; }
  bool waits() const { return reader_ == nullptr; }
  void Run(const std::function<bool()>& stop);

 private:
  template <auto kFree>
  struct FreedBy {
    template <typename T>
    void operator()(T* object) const {
      kFree(object);
    }
  };
  /// The states of the database and its log.
  struct DatabaseState {
    FileState file, log;
    bool operator==(const DatabaseState&) const = default;
  };
  /// A page that listens.
  struct Stream {
    evhttp_request* request;
    evhttp_connection* connection;
    Cursor cursor;
    double sent;  ///< when something was sent last
  };

  void Listen(int port);
  DatabaseState StateNow() const { return {StateOf(database_), StateOf(database_ + "-wal")}; }
  void OpenDatabase();
  /// Of those that are open, accepted by this server.
  bool HasAllConnections() const;
  void Poll();
  void SendNews();
  void Send(Stream& stream, const std::string& text);
  void CloseStream(evhttp_connection* connection);

  void Answer(evhttp_request* request);
  bool IsForThisServer(evhttp_request* request) const;
  void AnswerPage(evhttp_request* request);
  void AnswerData(evhttp_request* request);
  void AnswerEvents(evhttp_request* request);
  void AnswerThatItWaits(evhttp_request* request);
  static void Reply(evhttp_request* request, int code, const char* type, const std::string& body);
  /// What goes wrong while the loop runs is thrown when it has ended.
  template <typename Work>
  void Guarded(const Work& work);

  std::string database_;
  int port_ = 0;
  const int64_t max_connections_ = MaxConnections();
  std::unique_ptr<record::Store> store_;
  std::unique_ptr<PageReader> reader_;  ///< null as long as there is no database
  DatabaseState read_state_;
  bool had_all_details_ = false;
  double next_details_ = 0;
  double next_poll_ = 0;
  std::function<bool()> stop_;
  std::exception_ptr failure_;
  std::list<Stream> streams_;
  std::unique_ptr<event_base, FreedBy<event_base_free>> base_;
  std::unique_ptr<evhttp, FreedBy<evhttp_free>> http_;
  evconnlistener* listener_ = nullptr;  ///< of http_
  std::unique_ptr<event, FreedBy<event_free>> timer_;
};

Board::Server::Server(const std::string& database, int port) : database_(database) {
  if (!IsEmpty(StateNow().file)) OpenDatabase();
  Listen(port);
}

void Board::Server::Listen(int port) {
  event_set_log_callback([](int, const char*) {});  // what matters is an error here
  base_.reset(event_base_new());
  http_.reset(base_ ? evhttp_new(base_.get()) : nullptr);
  if (!http_) throw SystemError("cannot start a server: no event loop");
  evhttp_set_allowed_methods(http_.get(), EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
  evhttp_set_max_headers_size(http_.get(), kMaxHeaderBytes);
  evhttp_set_max_body_size(http_.get(), 0);
  evhttp_set_timeout(http_.get(), kRequestTimeoutSeconds);
  evhttp_set_gencb(
      http_.get(),
      [](evhttp_request* request, void* server) { static_cast<Server*>(server)->Answer(request); },
      this);
  errno = 0;
  evhttp_bound_socket* bound =
      evhttp_bind_socket_with_handle(http_.get(), "127.0.0.1", static_cast<uint16_t>(port));
  if (bound == nullptr) {
    throw OptionError("port", fmt::format("cannot listen on port {} of 127.0.0.1: {}; 0 chooses a "
                                          "free one",
                                          port, std::strerror(errno)));
  }
  port_ = PortOf(evhttp_bound_socket_get_fd(bound));
  // Further connections wait to be accepted while there are too many, or no more descriptors. The
  // timer looks whether that is over.
  listener_ = evhttp_bound_socket_get_listener(bound);
  evconnlistener_set_error_cb(
      listener_, [](evconnlistener* listener, void*) { evconnlistener_disable(listener); });
  evhttp_set_bevcb(
      http_.get(),
      [](event_base*, void* server) -> bufferevent* {
        auto* self = static_cast<Server*>(server);
        if (self->HasAllConnections()) evconnlistener_disable(self->listener_);
        return nullptr;  // the usual one
      },
      this);
}

bool Board::Server::HasAllConnections() const {
  std::error_code error;
  int64_t connections = -1;  // the port itself is no connection
  std::filesystem::directory_iterator each("/proc/self/fd", error);
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    if (PortOf(std::atoi(each->path().filename().c_str())) == port_) ++connections;
  }
  return error || connections >= max_connections_;
}

void Board::Server::OpenDatabase() {
  read_state_ = StateNow();
  reader_.reset();
  store_ = std::make_unique<record::Store>(database_, record::Store::Mode::kReadOnly);
  reader_ =
      std::make_unique<PageReader>(*store_, std::filesystem::path(database_).filename().string(),
                                   static_cast<uint64_t>(base::UnixMicroseconds()));
  reader_->Refresh(/*detail_seconds=*/0);
  had_all_details_ = false;
  next_details_ = 0;
}

template <typename Work>
void Board::Server::Guarded(const Work& work) {
  try {
    work();
  } catch (...) {
    failure_ = std::current_exception();
    event_base_loopbreak(base_.get());
  }
}

void Board::Server::Run(const std::function<bool()>& stop) {
  const IgnoreBrokenPipes ignore;
  stop_ = stop;
  timer_.reset(event_new(
      base_.get(), -1, EV_PERSIST,
      [](evutil_socket_t, short, void* server) {
        auto* self = static_cast<Server*>(server);
        if (self->stop_()) {
          event_base_loopbreak(self->base_.get());
          return;
        }
        if (!self->HasAllConnections()) evconnlistener_enable(self->listener_);
        self->Guarded([self] { self->Poll(); });
      },
      this));
  const timeval interval = TimevalOf(kStopPollSeconds);
  event_add(timer_.get(), &interval);
  event_base_dispatch(base_.get());
  timer_.reset();
  if (failure_) std::rethrow_exception(failure_);
}

void Board::Server::Poll() {
  const double now = base::MonotonicSeconds();
  if (now < next_poll_) return;
  next_poll_ = now + kDatabasePollSeconds;
  const DatabaseState state = StateNow();
  if (IsEmpty(state.file)) return;  // being made or replaced
  const bool is_other = waits() || state.file[0] != read_state_.file[0];
  const bool is_new = !(state == read_state_);
  if (is_other) {
    OpenDatabase();
  } else if (is_new || (!reader_->details_are_current() && now >= next_details_)) {
    read_state_ = state;
    const bool with_details = now >= next_details_;
    const bool goes_on = reader_->Refresh(with_details ? kDetailsSeconds : 0);
    had_all_details_ |= reader_->details_are_current();
    if (with_details && had_all_details_) {
      const double took = base::MonotonicSeconds() - now;
      next_details_ = now + std::max(kMinDetailsPauseSeconds, kDetailsPause * took);
    }
    if (!goes_on) OpenDatabase();
  }
  SendNews();
}

void Board::Server::SendNews() {
  const Cursor current = reader_->Now();
  const double now = base::MonotonicSeconds();
  std::optional<std::pair<Cursor, std::string>> last;  // pages mostly have the same
  for (Stream& stream : streams_) {
    bufferevent* unsent = evhttp_connection_get_bufferevent(stream.connection);
    if (evbuffer_get_length(bufferevent_get_output(unsent)) > kMaxUnsentBytes) continue;
    if (!reader_->Knows(stream.cursor)) {
      Send(stream, "event: reload\ndata: {}\n\n");
    } else if (stream.cursor != current) {
      if (!last || last->first != stream.cursor) {
        last = {stream.cursor, fmt::format("id: {}\ndata: {}\n\n", current.ToText(),
                                           DocumentText(reader_->Since(stream.cursor)))};
      }
      Send(stream, last->second);
    } else if (now - stream.sent >= kHeartbeatSeconds) {
      Send(stream, ":\n\n");
    } else {
      continue;
    }
    stream.cursor = current;
    stream.sent = now;
  }
}

void Board::Server::Send(Stream& stream, const std::string& text) {
  const std::unique_ptr<evbuffer, FreedBy<evbuffer_free>> buffer(evbuffer_new());
  evbuffer_add(buffer.get(), text.data(), text.size());
  evhttp_send_reply_chunk(stream.request, buffer.get());
}

void Board::Server::CloseStream(evhttp_connection* connection) {
  const auto found = std::ranges::find(streams_, connection, &Stream::connection);
  if (found == streams_.end()) return;
  // A request whose connection broke is its handler's to free; any other is the connection's.
  if (evhttp_request_get_connection(found->request) == nullptr) {
    evhttp_request_free(found->request);
  }
  streams_.erase(found);
}

bool Board::Server::IsForThisServer(evhttp_request* request) const {
  const std::string host = HeaderOf(request, "Host");
  return host == fmt::format("127.0.0.1:{}", port_) || host == fmt::format("localhost:{}", port_);
}

void Board::Server::Reply(evhttp_request* request, int code, const char* type,
                          const std::string& body) {
  AddHeader(request, "Content-Type", type);
  AddHeader(request, "Cache-Control", "no-store");
  AddHeader(request, "X-Content-Type-Options", "nosniff");
  AddHeader(request, "Referrer-Policy", "no-referrer");
  const std::unique_ptr<evbuffer, FreedBy<evbuffer_free>> buffer(evbuffer_new());
  evbuffer_add(buffer.get(), body.data(), body.size());
  evhttp_send_reply(request, code, nullptr, buffer.get());
}

void Board::Server::Answer(evhttp_request* request) {
  Guarded([&] {
    const evhttp_uri* uri = evhttp_request_get_evhttp_uri(request);
    const char* given = uri == nullptr ? nullptr : evhttp_uri_get_path(uri);
    const std::string path = given == nullptr ? "" : given;
    if (!IsForThisServer(request)) {
      Reply(request, HTTP_BADREQUEST, "text/plain", "this server answers to 127.0.0.1 only\n");
    } else if (waits()) {
      AnswerThatItWaits(request);
    } else if (path == "/" || path.empty()) {
      AnswerPage(request);
    } else if (path == "/data.json") {
      AnswerData(request);
    } else if (path == "/events" && evhttp_request_get_command(request) == EVHTTP_REQ_GET) {
      AnswerEvents(request);
    } else {
      Reply(request, HTTP_NOTFOUND, "text/plain", "there are /, /events and /data.json\n");
    }
  });
}

void Board::Server::AnswerThatItWaits(evhttp_request* request) {
  AddHeader(request, "Refresh", fmt::format("{}", kWaitingPageSeconds));
  Reply(request, HTTP_SERVUNAVAIL, "text/plain",
        "the database is not there yet; its page is shown as soon as a run writes it\n");
}

void Board::Server::AnswerPage(evhttp_request* request) {
  AddHeader(request, "Content-Security-Policy", ContentSecurityPolicy(PageKind::kLive));
  Reply(request, HTTP_OK, "text/html; charset=utf-8",
        PageHtml(reader_->Since({}), PageKind::kLive));
}

void Board::Server::AnswerData(evhttp_request* request) {
  Reply(request, HTTP_OK, "application/json", DocumentText(reader_->Since({})) + "\n");
}

void Board::Server::AnswerEvents(evhttp_request* request) {
  if (streams_.size() >= kMaxStreams) {
    return Reply(request, HTTP_SERVUNAVAIL, "text/plain", "too many pages are open\n");
  }
  std::string text = HeaderOf(request, "Last-Event-ID");
  if (text.empty()) {
    evkeyvalq query = {};
    const char* given = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));
    if (given != nullptr && evhttp_parse_query_str(given, &query) == 0) {
      const char* cursor = evhttp_find_header(&query, "cursor");
      text = cursor == nullptr ? "" : cursor;
      evhttp_clear_headers(&query);
    }
  }
  evhttp_connection* connection = evhttp_request_get_connection(request);
  AddHeader(request, "Content-Type", "text/event-stream");
  AddHeader(request, "Cache-Control", "no-store");
  AddHeader(request, "X-Content-Type-Options", "nosniff");
  evhttp_send_reply_start(request, HTTP_OK, nullptr);
  // Nothing more is read from it, so that only writing can take too long.
  const timeval patience = TimevalOf(kRequestTimeoutSeconds);
  bufferevent_set_timeouts(evhttp_connection_get_bufferevent(connection), nullptr, &patience);
  evhttp_connection_set_closecb(
      connection,
      [](evhttp_connection* closed, void* server) {
        static_cast<Server*>(server)->CloseStream(closed);
      },
      this);
  // Without a cursor: all there is.
  const Cursor cursor = text.empty() ? Cursor{.reader = reader_->Now().reader}
                                     : Cursor::Parse(text).value_or(Cursor());
  streams_.push_back({request, connection, cursor, 0});
  SendNews();
}

Board::Board(const std::string& database, int port)
    : server_(std::make_unique<Server>(database, port)) {}

Board::~Board() = default;

int Board::port() const { return server_->port(); }

bool Board::waits() const { return server_->waits(); }

std::string Board::url() const { return fmt::format("http://127.0.0.1:{}/", port()); }

void Board::Run(const std::function<bool()>& stop) { server_->Run(stop); }

}  // namespace bayloom::page

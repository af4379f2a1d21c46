// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/board.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <memory>
#include <string>

#include "bayloom/base/single_line.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/output.h"

namespace bayloom::cli {
namespace {

constexpr int kDefaultPort = 8642;

struct BoardOptions {
  std::string database;
  int port = kDefaultPort;
};

void ServeBoard(const BoardOptions& options) {
  page::Board board(options.database, options.port);
  base::CatchStopSignals();
  fmt::print("{}{} at {}; Ctrl-C ends\n", base::SingleLine(options.database, 200),
             board.waits() ? " is not there yet and is waited for," : "", board.url());
  CheckOutput();
  board.Run(base::StopRequested);
  base::NoticeStop();
}

}  // namespace

void AddBoardCommand(CLI::App& app) {
  auto options = std::make_shared<BoardOptions>();
  CLI::App* board =
      app.add_subcommand("board", "Show a database in the browser while it is written");
  board
      ->add_option("database", options->database,
                   "Database of 'bayloom tune', 'search', 'map' or 'pretrain'")
      ->required();
  board->add_option("--port", options->port, "Port of 127.0.0.1 to listen on; 0: a free one")
      ->option_text("N")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  board->footer(
      "The page is that of 'bayloom report --html'; trials appear on it as they are\n"
      "recorded. Only programs of this machine can read it. To look from another one:\n"
      "  ssh -L 8642:127.0.0.1:8642 HOST bayloom board resnet18.db\n"
      "\n"
      "/data.json is the page's data, for notebooks and scripts.\n"
      "\n"
      "Examples:\n"
      "  bayloom board resnet18.db\n"
      "  bayloom board flags.db --port 0");
  board->callback([options] { ServeBoard(*options); });
}

}  // namespace bayloom::cli

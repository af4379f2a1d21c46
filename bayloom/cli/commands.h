#pragma once

namespace CLI {
class App;
}

namespace bayloom {

// Each adds one subcommand, which runs while the command line is parsed. Subcommands throw
// InputError for what a person can put right.

void AddRecordsCommand(CLI::App& app);

}  // namespace bayloom

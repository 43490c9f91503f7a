// The options that choose events of kept iterations, as every command that has them reads them: the words are those of the page.
// Contract: one thread; allocates; must outlive the parse of the command line.
#pragma once

#include "tools/timeline/event_filter.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace libprofile::tools {

class EventFilterOptions {
  public:
    /// Of the help.
    static constexpr const char* help =
        "  --only KIND          calls, tasks or regions\n"
        "  --with TEXT          with this text in the name of the function; of tasks: in their type, or in the line that creates them\n"
        "  --inside TEXT        with this text in the name of a function of the call path\n"
        "  --from TIME          that take so long at least, such as 1.5ms, 20us, 3s; of a task its own time\n"
        "  --to TIME            that take so long at most\n"
        "  --thread LIST        of these threads of the ranks\n"
        "  --processor LIST     that ended on these processors\n"
        "  --node LIST          that ended on processors of these NUMA nodes\n"
        "  --reads LIST         tasks that read data on these NUMA nodes, by their depend clauses\n"
        "  --writes LIST        tasks that write data on these NUMA nodes\n";

    void declare(CLI::App& app);
    /// The first one that is given; empty: none.
    std::string given() const;
    /// @throws UsageError if one makes no sense
    EventFilter filter() const;

  private:
    std::string only_, with_, inside_, from_, to_, threads_, processors_, nodes_, reads_, writes_;
    std::vector<const CLI::Option*> options_;
};

} // namespace libprofile::tools

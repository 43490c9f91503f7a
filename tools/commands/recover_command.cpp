#include "tools/commands/commands.hpp"
#include "tools/names/labels.hpp"
#include "tools/reader/recover.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr const char* recover_help =
    "Examples:\n"
    "  libprofile recover libprofile-app-1234     makes one profile of what the ranks of a killed job left\n"
    "  libprofile report libprofile-app-1234      works without that, too\n\n"
    "Usage: libprofile recover FOLDER\n"
    "Copies the data of every rank from its live file (rank-N.lprof), or from the unfinished common file if that has\n"
    "all of them, into FOLDER/profile.lprof. It overwrites and removes nothing, and refuses while a rank of the job runs here.\n";

class RecoverCommand final : public Command {
  public:
    const char* name() const override { return "recover"; }
    const char* summary() const override { return "make one profile of what the ranks of a killed job left"; }
    const char* help() const override { return recover_help; }

    void declare(CLI::App& app) override { app.add_option("folder", path_); }

    int run() override {
        if (path_.empty()) throw UsageError("recover needs the folder of a job: libprofile recover libprofile-<program>-<job>");
        const Recovery done = recover(path_);
        fmt::print("{}: {} of {} ranks ({} KiB)\n", printable(done.file.string()), done.live.size() + done.ended.size(), done.ranks_of_job,
                   (done.bytes + 1023) / 1024);
        if (!done.live.empty()) fmt::print("  {} up to their last closed iteration or checkpoint\n", done.live.size());
        if (!done.ended.empty()) fmt::print("  {} up to their end\n", done.ended.size());
        for (const std::string& file : done.left_out) fmt::print("  left out: {}\n", file);
        if (!done.not_needed.empty())
            fmt::print("  not needed any more: {}{}\n", done.not_needed.front(),
                       done.not_needed.size() == 1 ? "" : fmt::format(" and {} more", done.not_needed.size() - 1));
        return 0;
    }

  private:
    std::string path_;
};

} // namespace

std::unique_ptr<Command> make_recover_command() { return std::make_unique<RecoverCommand>(); }

} // namespace libprofile::tools

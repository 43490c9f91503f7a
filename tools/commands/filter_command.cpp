#include "tools/analysis/filter_file.hpp"
#include "tools/commands/commands.hpp"
#include "tools/names/resolve.hpp"
#include "tools/reader/reader.hpp"
#include "tools/text/phrases.hpp"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr const char* filter_help = "Examples:\n"
                                    "  libprofile filter libprofile-app-1234 > app.filter     functions that are better not instrumented\n"
                                    "  libprofile-c++ --filter=app.filter -O2 -c app.cpp      compile without them\n"
                                    "  LIBPROFILE_FILTER=app.filter mpirun ...                or leave them out at run time, at a few ns per visit\n\n"
                                    "Usage: libprofile filter FOLDER [--target PERCENT]\n"
                                    "Writes a filter file to standard output, for a job whose program was compiled with -finstrument-functions. It lists the\n"
                                    "functions whose visits are shorter than ten times their cost, then those with the shortest visits, until the rest\n"
                                    "costs at most PERCENT (1) of the computing time. docs/regions.md says more.\n";

class FilterCommand final : public Command {
  public:
    const char* name() const override { return "filter"; }
    const char* summary() const override { return "list the instrumented functions that are better left out"; }
    const char* help() const override { return filter_help; }

    void declare(CLI::App& app) override {
        app.add_option("folder", path_);
        app.add_option("--target", percent_);
    }

    int run() override {
        if (path_.empty()) throw UsageError("filter needs the folder of a job: libprofile filter libprofile-<program>-<job>");
        if (!(percent_ >= 0 && percent_ <= 1000)) throw UsageError("--target is a share of the time in percent, 0 to 1000");
        Profile profile = read_profile(std::filesystem::path(path_));
        resolve_names(profile, false);
        const TinyFunctions tiny = choose_tiny(profile, percent_ / 100);
        if (tiny.cost_ns == 0) {
            fmt::print(stderr, "libprofile: no instrumented function was visited in this job; compile with libprofile-cc, or -finstrument-functions\n");
            return 1;
        }
        const FilterFile file = filter_file(profile, tiny, percent_ / 100);
        fmt::print("{}", file.text);
        fmt::print(stderr, "libprofile: {} excluded; instrumentation cost at least {:.1f} % of the computing time, at least {:.2f} % remain\n",
                   plural(tiny.chosen.size(), "function") + (tiny.chosen.size() == 1 ? " is" : " are"), 100 * tiny.share(), 100 * tiny.share_left());
        if (file.left_to_run != 0)
            fmt::print(stderr, "libprofile: {} of them only at run time, because GCC would also leave out others with the same text in their names\n",
                       file.left_to_run);
        return 0;
    }

  private:
    std::string path_;
    double percent_ = 1;
};

} // namespace

std::unique_ptr<Command> make_filter_command() { return std::make_unique<FilterCommand>(); }

} // namespace libprofile::tools

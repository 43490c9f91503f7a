#include "tools/commands/commands.hpp"
#include "tools/commands/evaluate.hpp"
#include "tools/commands/number_between.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace libprofile::tools {

namespace {

constexpr const char* evaluate_help =
    "Examples:\n"
    "  mpirun -n 4 env LIBPROFILE_CLUSTERS=off libprofile run -- ./app args    records every iteration in "
    "full\n"
    "  libprofile evaluate libprofile-app-1234                      errors, memory and time by number of "
    "clusters\n"
    "  libprofile evaluate libprofile-app-1234 --plot figures       and figures\n\n"
    "Usage: libprofile evaluate FOLDER [options]\n"
    "Replays the clustering on the recorded iterations and compares what is left of each with the original\n"
    "(Szebenyi, Wolf, Wylie, SC 2009, section 5). docs/evaluation.md explains the numbers.\n\nOptions:\n"
    "  --phase NAME           the iterated phase [the one with most time]\n"
    "  --clusters N,N,...     numbers of clusters to try [8,16,32,64,128,256]\n"
    "  --errors P,P,...     bounds of libprofile's own method, in % [0.1,1,5]\n"
    "  --bounded-clusters N,N,...   numbers of clusters for that method, in addition to the default; --errors uses the last one [4,8]\n"
    "  --equivalence auto|strong|weak|none   what iterations of a cluster must have in common [auto]\n"
    "  --format text|json     [text]\n"
    "  --plot FOLDER          writes figures (SVG) into the folder\n"
    "  --width N              columns of the text [those of the terminal, else 100]\n"
    "  --ascii                plain characters only\n";

class EvaluateCommand final : public Command {
  public:
    const char* name() const override { return "evaluate"; }
    const char* summary() const override { return "what clustering would lose and save, tried on a job recorded in full"; }
    const char* help() const override { return evaluate_help; }

    void declare(CLI::App& app) override {
        app.add_option("folder", options_.path);
        app.add_option("--format", format_)->type_name("text|json")->check(CLI::IsMember({"text", "json"}));
        app.add_option("--plot", options_.figures);
        app.add_option("--phase", options_.phase);
        app.add_option("--clusters", options_.clusters)->delimiter(',')->check(CLI::Range(1, 4096));
        app.add_option("--errors", options_.errors)->delimiter(',')->check(number_between(0, 100));
        app.add_option("--bounded-clusters", options_.bounded_clusters)->delimiter(',')->check(CLI::Range(1, 4096));
        app.add_option("--equivalence", equivalence_)
            ->type_name(fmt::format("{}", fmt::join(equivalence_modes, "|")))
            ->check(CLI::IsMember(std::vector<std::string>(equivalence_modes.begin(), equivalence_modes.end())));
        app.add_option("--width", options_.width)->check(CLI::Range(80, 1000));
        app.add_flag("--ascii", options_.ascii);
    }

    int run() override {
        if (options_.path.empty())
            throw UsageError("evaluate needs the folder of a profile that was recorded with LIBPROFILE_CLUSTERS=off: "
                             "libprofile evaluate libprofile-<program>-<job>");
        options_.json = format_ == "json";
        const auto* mode = std::find(equivalence_modes.begin(), equivalence_modes.end(), equivalence_);
        options_.equivalence = static_cast<EquivalenceChoice>(mode - equivalence_modes.begin());
        return evaluate(options_);
    }

  private:
    EvaluateOptions options_;
    std::string format_ = "text";
    std::string equivalence_ = equivalence_modes[0];
};

} // namespace

std::unique_ptr<Command> make_evaluate_command() { return std::make_unique<EvaluateCommand>(); }

} // namespace libprofile::tools

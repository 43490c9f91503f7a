#include "tools/commands/chosen_parts.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/measured_runs.hpp"
#include "tools/comparison/comparison_document.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/pager.hpp"
#include "tools/text/shell.hpp"
#include "tools/text/terminal.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

// Exit codes of --fail-above.
constexpr int too_slow = 3;
constexpr int not_judged = 4; // a run that was killed halfway is soon over: that is no pass

constexpr const char* compare_help = "Examples:\n"
                                     "  libprofile compare libprofile-app-1 libprofile-app-2                what is different in the second run\n"
                                     "  libprofile compare --baseline a1 a2 a3 -- b1 b2 b3                  with repetitions: what is more than chance\n"
                                     "  libprofile compare yesterday=a1,a2,a3 today=b1,b2,b3                the same, with names\n"
                                     "  libprofile compare old new --fail-above 3%                          for tests: exit code 3 if new is slower by more\n"
                                     "  libprofile compare old new --format markdown > comparison.md\n\n"
                                     "Usage: libprofile compare RUN RUN [RUN ...] [options]\n"
                                     "Says what is slower or faster than in the first run: functions, call paths and ranks. RUN is the folder of a\n"
                                     "profile, also of a program that was compiled anew, or a profile of another tool (docs/analysis.md). NAME=RUN,RUN\n"
                                     "names repetitions of a run. Without --baseline, the first run or name is what the others are compared with.\n\n"
                                     "Which part:\n"
                                     "  --baseline RUN ...   these runs are repetitions of the baseline; after --, those of the new program\n"
                                     "  --phase NAME         this phase only; with --iterations: of this phase [the one that took most time]\n"
                                     "  --iterations A:B     these iterations only, counted from 1; A: and :B are open ranges\n"
                                     "  --rank LIST          these ranks only, such as 0,4-7\n"
                                     "  --threads            all threads of the ranks, not only the main ones\n"
                                     "  --metric NAME        by this metric, such as mpi, visits, bytes (docs/metrics.md) [time]\n\n"
                                     "What of it:\n"
                                     "  --top N              show N functions and call paths\n"
                                     "  --fail-above PERCENT exit with code 3 if a run is slower than the baseline by more, and not by chance;\n"
                                     "                       with 4 if it is not, but ranks are missing or did not end\n"
                                     "  --format FORMAT      text, json, csv, markdown [text]\n"
                                     "  --width N            columns of the text [those of the terminal, else 100]\n"
                                     "  --ascii              plain characters only; NO_COLOR=1: no colours\n"
                                     "  --no-pager           do not start $PAGER (less) on a terminal\n";

class CompareCommand final : public Command {
  public:
    const char* name() const override { return "compare"; }
    const char* summary() const override { return "say what is slower than in another run: functions, call paths, ranks"; }
    const char* help() const override { return compare_help; }

    void declare(CLI::App& app) override {
        app.add_option("runs", runs_);
        app.add_option("--baseline", baseline_)->expected(1, 10'000);
        phase_option_ = app.add_option("--phase", choice_.phase);
        app.add_option("--iterations", iterations_);
        app.add_option("--rank,--ranks", ranks_);
        app.add_flag("--threads", choice_.threads);
        app.add_option("--metric", choice_.metric);
        app.add_option("--top", form_.top)->check(CLI::Range(1, 1'000'000));
        app.add_option("--fail-above", limit_);
        app.add_option("--format", format_)->type_name("text|json|csv|markdown");
        app.add_option("--width", width_)->check(CLI::Range(80, 1000));
        app.add_flag("--ascii", ascii_);
        app.add_flag("--no-pager", no_pager_);
    }

    int run() override {
        const std::vector<NamedPlaces> places = compared_places(runs_, baseline_, "compare");
        check_format();
        if (phase_option_->count() != 0) choice_.has_phase = true;
        if (!iterations_.empty()) choice_.iterations = iterations_option(iterations_);
        if (!ranks_.empty()) choice_.ranks = ranks_option(ranks_);
        const double limit = limit_.empty() ? 0 : percent_option();
        std::vector<RunGroup> groups = read_groups(places, choice_);
        const Comparison comparison = compare_groups(groups, choice_);
        form_.command = "libprofile compare";
        for (const NamedPlaces& group : places) form_.command += " " + shell_word(group.name);
        form_.everything = format_ == "json" || format_ == "csv";
        print_paged(text_of(comparison, groups), !no_pager_ && !form_.everything);
        return limit_.empty() ? 0 : judged(comparison, groups, limit);
    }

  private:
    void check_format() const {
        if (format_ != "text" && format_ != "json" && format_ != "csv" && format_ != "markdown")
            throw UsageError(fmt::format("there is no format \"{}\"; compare has text, json, csv, markdown", format_));
        if ((width_ != 0 || ascii_) && format_ != "text") throw UsageError(fmt::format("--width and --ascii are for text, not for {}", format_));
    }

    double percent_option() const {
        double percent = 0;
        const char* const end = limit_.data() + limit_.size() - (limit_.ends_with('%') ? 1 : 0);
        const auto [stop, error] = std::from_chars(limit_.data(), end, percent);
        if (error != std::errc() || stop != end || !(percent >= 0) || percent > 1e6)
            throw UsageError(fmt::format("--fail-above {} is no percentage; write it like 3%", limit_));
        return percent;
    }

    std::string text_of(const Comparison& comparison, const std::vector<RunGroup>& groups) const {
        if (format_ == "text") return comparison_text(comparison, groups, form_, style_of_output(width_, ascii_));
        const ReportDocument document = comparison_document(comparison, groups, form_);
        return format_ == "json" ? document_json(document) : format_ == "csv" ? document_csv(document) : document_markdown(document);
    }

    /// The exit code. Says why on standard error, where tests log it whatever the format.
    int judged(const Comparison& comparison, const std::vector<RunGroup>& groups, double percent_limit) const {
        int code = 0;
        for (const RunGroup& group : groups)
            for (const Run& run : group.runs) {
                if (run.is_complete) continue;
                fmt::print(
                    stderr, "libprofile: {}\n",
                    printable(fmt::format("{} is incomplete, so --fail-above {} does not pass; libprofile report tells what is missing", run.place, limit_)));
                code = not_judged;
            }
        for (const GroupComparison& one : comparison.groups) {
            if (!one.whole.is_growth_above(percent_limit)) continue;
            const std::string what = comparison.is_of_time ? "time" : comparison.metric;
            fmt::print(stderr, "libprofile: {}\n",
                       printable(fmt::format("{} {} than {}, which is more than --fail-above {}", groups[one.group].name,
                                             one.whole.before == 0   ? fmt::format("has more {}", what)
                                             : comparison.is_of_time ? fmt::format("is {} slower", percent(one.share()))
                                                                     : fmt::format("has {} more {}", percent(one.share()), what),
                                             groups.front().name, limit_)));
            code = too_slow;
        }
        return code;
    }

    std::vector<std::string> runs_, baseline_;
    RunChoice choice_;
    ComparisonForm form_;
    CLI::Option* phase_option_ = nullptr;
    std::string iterations_, ranks_, limit_, format_ = "text";
    int width_ = 0;
    bool ascii_ = false, no_pager_ = false;
};

} // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

} // namespace libprofile::tools

#include "tools/commands/chosen_parts.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/measured_runs.hpp"
#include "tools/comparison/comparison_document.hpp"
#include "tools/comparison/over_time_document.hpp"
#include "tools/comparison/over_time_words.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/pager.hpp"
#include "tools/text/shell.hpp"
#include "tools/text/terminal.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
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
                                     "  libprofile compare old new --over-time                              in which iterations, aligned by what they did\n"
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
                                     "Over time:\n"
                                     "  --over-time          which iterations are slower, and what in them; with LIBPROFILE_ORDER=1 in both runs, also\n"
                                     "                       which calls changed inside\n"
                                     "  --align WAY          what makes iterations the same: structure (their calls), work (the amount of it), step\n"
                                     "                       (their number), progress (their place in the run) [what fits best]\n\n"
                                     "What of it:\n"
                                     "  --top N              show N functions and call paths\n"
                                     "  --fail-above PERCENT exit with code 3 if a run is slower than the baseline by more, and not by chance; with\n"
                                     "                       --over-time: if some of its iterations are; with 4 if it is not, but ranks are missing or\n"
                                     "                       did not end\n"
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
        app.add_flag("--over-time", over_time_);
        app.add_option("--align", align_)->type_name("structure|work|step|progress");
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
        form_.command = "libprofile compare";
        for (const NamedPlaces& group : places) form_.command += " " + shell_word(group.name);
        form_.everything = format_ == "json" || format_ == "csv";
        if (over_time_) return compare_over_time(places, limit);
        if (!align_.empty()) throw UsageError("--align is for --over-time");
        std::vector<RunGroup> groups = read_groups(places, choice_);
        const Comparison comparison = compare_groups(groups, choice_);
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

    int compare_over_time(const std::vector<NamedPlaces>& places, double limit) const {
        if (!choice_.is_of_time()) throw UsageError("--over-time compares times; leave out --metric");
        const std::optional<AlignBy> forced = align_option(align_);
        const ProfilesOfGroups runs = read_profiles(places);
        const RunsOverTime result = tools::compare_over_time(runs.groups, choice_, forced);
        if (format_ == "text")
            print_paged(over_time_text(result, runs.groups, form_, style_of_output(width_, ascii_)), !no_pager_);
        else
            print_paged(formatted(over_time_document(result, runs.groups, form_)), !no_pager_ && !form_.everything);
        return limit_.empty() ? 0 : judged(result, runs.groups, limit);
    }

    std::string formatted(const ReportDocument& document) const {
        return format_ == "json" ? document_json(document) : format_ == "csv" ? document_csv(document) : document_markdown(document);
    }

    std::string text_of(const Comparison& comparison, const std::vector<RunGroup>& groups) const {
        return format_ == "text" ? comparison_text(comparison, groups, form_, style_of_output(width_, ascii_))
                                 : formatted(comparison_document(comparison, groups, form_));
    }

    /// not_judged, and a sentence, if a run is not whole.
    int code_of(const std::string& place, bool is_complete) const {
        if (is_complete) return 0;
        fmt::print(stderr, "libprofile: {}\n",
                   printable(fmt::format("{} is incomplete, so --fail-above {} does not pass; libprofile report tells what is missing", place, limit_)));
        return not_judged;
    }

    int judged(const RunsOverTime& result, const std::vector<ProfiledGroup>& groups, double percent_limit) const {
        int code = 0;
        for (const ProfiledGroup& group : groups)
            for (const ProfiledRun& run : group.runs) code = std::max(code, code_of(run.place, run.profile->complete));
        for (const GroupOverTime& one : result.groups)
            for (const SegmentChange& segment : one.segments) {
                if (std::isnan(segment.each.error) && segment.each.is_growth_above(percent_limit)) {
                    fmt::print(stderr, "libprofile: {}\n",
                               printable(fmt::format("one iteration does not tell what is chance, so --fail-above {} does not pass", limit_)));
                    code = std::max(code, not_judged);
                }
                if (!segment.is_change || !segment.each.is_growth_above(percent_limit)) continue;
                fmt::print(stderr, "libprofile: {}\n",
                           printable(fmt::format("iterations {} of {} are {} slower in {}, which is more than --fail-above {}",
                                                 iterations_text(segment, groups[one.group].name), groups.front().name,
                                                 percent(segment.each.difference() / segment.each.before), groups[one.group].name, limit_)));
                code = too_slow;
            }
        return code;
    }

    /// The exit code. Says why on standard error, where tests log it whatever the format.
    int judged(const Comparison& comparison, const std::vector<RunGroup>& groups, double percent_limit) const {
        int code = 0;
        for (const RunGroup& group : groups)
            for (const Run& run : group.runs) code = std::max(code, code_of(run.place, run.is_complete));
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
    std::string iterations_, ranks_, align_, limit_, format_ = "text";
    int width_ = 0;
    bool over_time_ = false, ascii_ = false, no_pager_ = false;
};

} // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

} // namespace libprofile::tools

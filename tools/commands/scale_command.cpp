#include "tools/commands/chosen_parts.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/measured_runs.hpp"
#include "tools/comparison/scaling_document.hpp"
#include "tools/text/pager.hpp"
#include "tools/text/shell.hpp"
#include "tools/text/terminal.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr const char* scale_help = "Examples:\n"
                                   "  libprofile scale run-1 run-2 run-4 run-8                     efficiency, and where time is lost\n"
                                   "  libprofile scale runs/* --strong                             the same problem on more processors\n"
                                   "  libprofile scale n16-a n16-b n64-a n64-b --weak              a problem that grows; two runs of each size\n"
                                   "  libprofile scale run-* --format json > scaling.json\n\n"
                                   "Usage: libprofile scale RUN RUN [RUN ...] [options]\n"
                                   "Compares runs of different sizes, ranks x threads, with the smallest one. RUN is the folder of a profile, or a\n"
                                   "profile of another tool (docs/analysis.md). Of several runs of one size the median counts. From five sizes on,\n"
                                   "it says how times grow.\n\n"
                                   "Which part:\n"
                                   "  --strong             all runs have the same problem [seen from whether total computing grows]\n"
                                   "  --weak               the problem grows with the size\n"
                                   "  --phase NAME         this phase only; with --iterations: of this phase [the one that took most time]\n"
                                   "  --iterations A:B     these iterations only, counted from 1; A: and :B are open ranges\n\n"
                                   "What of it:\n"
                                   "  --top N              show N functions\n"
                                   "  --format FORMAT      text, json, csv, markdown [text]\n"
                                   "  --width N            columns of the text [those of the terminal, else 100]\n"
                                   "  --ascii              plain characters only; NO_COLOR=1: no colours\n"
                                   "  --no-pager           do not start $PAGER (less) on a terminal\n";

class ScaleCommand final : public Command {
  public:
    const char* name() const override { return "scale"; }
    const char* summary() const override { return "say how a program scales over runs of several sizes, and what time is lost to"; }
    const char* help() const override { return scale_help; }

    void declare(CLI::App& app) override {
        app.add_option("runs", runs_);
        app.add_flag("--strong", strong_);
        app.add_flag("--weak", weak_);
        phase_option_ = app.add_option("--phase", choice_.phase);
        app.add_option("--iterations", iterations_);
        app.add_option("--top", form_.top)->check(CLI::Range(1, 1'000'000));
        app.add_option("--format", format_)->type_name("text|json|csv|markdown");
        app.add_option("--width", width_)->check(CLI::Range(80, 1000));
        app.add_flag("--ascii", ascii_);
        app.add_flag("--no-pager", no_pager_);
    }

    int run() override {
        if (runs_.size() < 2) throw UsageError("scale needs runs of at least two sizes: libprofile scale run-1 run-2 run-4");
        if (strong_ && weak_) throw UsageError("scaling is --strong or --weak, not both");
        if (format_ != "text" && format_ != "json" && format_ != "csv" && format_ != "markdown")
            throw UsageError(fmt::format("there is no format \"{}\"; scale has text, json, csv, markdown", format_));
        if ((width_ != 0 || ascii_) && format_ != "text") throw UsageError(fmt::format("--width and --ascii are for text, not for {}", format_));
        choice_.has_phase = phase_option_->count() != 0;
        if (!iterations_.empty()) choice_.iterations = iterations_option(iterations_);
        form_.everything = format_ == "json" || format_ == "csv";
        form_.command = "libprofile scale";
        for (const std::string& run : runs_) form_.command += " " + shell_word(run);
        std::vector<Run> runs = read_runs(runs_, choice_);
        const Scaling scaling = scaling_of(runs, strong_ ? std::optional(ScalingKind::Strong) : weak_ ? std::optional(ScalingKind::Weak) : std::nullopt);
        print_paged(text_of(scaling), !no_pager_ && !form_.everything);
        return 0;
    }

  private:
    std::string text_of(const Scaling& scaling) const {
        if (format_ == "text") return scaling_text(scaling, form_, style_of_output(width_, ascii_));
        const ReportDocument document = scaling_document(scaling, form_);
        return format_ == "json" ? document_json(document) : format_ == "csv" ? document_csv(document) : document_markdown(document);
    }

    std::vector<std::string> runs_;
    RunChoice choice_;
    ScalingForm form_;
    CLI::Option* phase_option_ = nullptr;
    std::string iterations_, format_ = "text";
    int width_ = 0;
    bool strong_ = false, weak_ = false, ascii_ = false, no_pager_ = false;
};

} // namespace

std::unique_ptr<Command> make_scale_command() { return std::make_unique<ScaleCommand>(); }

} // namespace libprofile::tools

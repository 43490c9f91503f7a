#include "tools/commands/add_names.hpp"
#include "tools/commands/chosen_parts.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/event_filter_options.hpp"
#include "tools/commands/foreign.hpp"
#include "tools/export/formats.hpp"
#include "tools/frames/frame_table.hpp"
#include "tools/names/labels.hpp"
#include "tools/reader/reader.hpp"
#include "tools/text/number_list.hpp"

#include <filesystem>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

namespace fs = std::filesystem;

constexpr const char* help_begin =
    "Examples:\n"
    "  libprofile export libprofile-app-1234 --format speedscope\n"
    "  libprofile export libprofile-app-1234 --format hpctoolkit --output app.hpctoolkit\n"
    "  libprofile export libprofile-app-1234 --format folded --iterations 1:100 --rank 0,4-7 --output - | "
    "less\n\n"
    "Usage: libprofile export FOLDER --format FORMAT [options]\n"
    "Writes a profile for other tools. FOLDER is the one that libprofile named at the end of the job, or a profile of another tool\n"
    "(HPCToolkit, Score-P, Caliper, TAU, pprof ...).\n\nFormats:\n";
constexpr const char* help_end = "\nOptions:\n"
                                 "  --output PATH        the new file or folder; - is standard output [FOLDER's name with the format's "
                                 "ending]\n"
                                 "  --iterations A:B     these iterations of a phase only, counted from 1; A: and :B are open ranges\n"
                                 "  --phase NAME         this phase only; with --iterations: of this phase [the one with iterations that "
                                 "took most time]\n"
                                 "  --rank LIST          these ranks only, such as 0,4-7\n"
                                 "  --metric LIST        metrics by name, such as time,visits,bytes; all for all [those that occur, "
                                 "without their parts]\n"
                                 "  --lines              call paths by line, not by function\n"
                                 "  --by-rank            folded: a stack for each rank\n"
                                 "  --depth A:B          dot: tasks of these depths only, from 0\n"
                                 "  --type TEXT          dot: tasks with this text in the name of their function or in their source line\n"
                                 "  --set NAME=VALUE     caliper: metadata of the run; extrap: a parameter. May be repeated\n"
                                 "\nWhich events of kept iterations (chrome, perfetto, paraver, otf2, dot), as in the filter of the page:\n";

class ExportCommand final : public Command {
  public:
    ExportCommand() : help_(help_begin) {
        for (const ExportFormat& format : export_formats()) help_ += fmt::format("  {:<10}  {}\n", format.name, format.summary);
        help_ += help_end;
        help_ += EventFilterOptions::help;
    }
    const char* name() const override { return "export"; }
    const char* summary() const override { return "write a profile for other tools: Hatchet, Thicket, Cube, speedscope, pprof, CSV ..."; }
    const char* help() const override { return help_.c_str(); }

    void declare(CLI::App& app) override {
        app.add_option("folder", path_);
        app.add_option("--format", format_)->type_name(format_names("|"));
        app.add_option("--output", output_);
        app.add_option("--iterations", iterations_);
        phase_option_ = app.add_option("--phase", request_.choice.phase);
        app.add_option("--rank", ranks_);
        app.add_option("--metric", metrics_);
        app.add_flag("--lines", request_.choice.by_line);
        app.add_flag("--by-rank", request_.by_rank);
        app.add_option("--depth", depth_);
        app.add_option("--type", request_.task_type);
        filter_.declare(app);
        app.add_option("--set", set_)->expected(1)->allow_extra_args(false);
    }

    int run() override {
        const ExportFormat& format = chosen_format();
        parse_choice();
        for (const auto& [is_given, option] : {std::pair(!depth_.empty(), "--depth"), std::pair(!request_.task_type.empty(), "--type")})
            if (is_given && !format.needs_tasks) throw UsageError(fmt::format("{} is for --format dot; the other formats have no tasks", option));
        if (!filter_.given().empty() && !format.needs_events && format_ != "chrome")
            throw UsageError(fmt::format("{} chooses events of kept iterations; {} has none", filter_.given(), format_));
        Profile profile;
        const std::optional<Frame> foreign = foreign_profile(path_, {{request_.choice.has_phase, "--phase", "it has no phases"},
                                                                     {request_.choice.iterations.has_value(), "--iterations", "it has no iterations"},
                                                                     {format_ == "chrome", "--format chrome", "it has no iterations to draw"},
                                                                     {format.needs_tasks, "--format dot", "it has no tasks"}});
        if (foreign) {
            profile = job_of(*foreign);
            request_.choice.source = [&](const TableChoice& choice) { return table_of(*foreign, choice, foreign_remarks_); };
        } else {
            profile = read_profile(fs::path(path_));
            add_names(profile, path_);
        }
        if (output_ == "-") return write_to_output(profile, format);
        if (output_.empty()) output_ = base_name(fs::absolute(fs::path(path_) / "").parent_path().string()) + format.suffix;
        NewFiles files(output_, format.is_folder);
        const Remarks remarks = format.write(profile, request_, files);
        files.finish();
        print(profile, remarks);
        fmt::print("{}\nopen it: {}\n", printable(output_), printable(fmt::format(fmt::runtime(format.next), output_)));
        return 0;
    }

  private:
    static std::string format_names(const char* between) {
        std::string names;
        for (const ExportFormat& format : export_formats()) names += fmt::format("{}{}", names.empty() ? "" : between, format.name);
        return names;
    }
    const ExportFormat& chosen_format() const {
        if (path_.empty())
            throw UsageError("export needs the folder of a profile: libprofile export "
                             "libprofile-<program>-<job> --format speedscope");
        for (const ExportFormat& format : export_formats())
            if (format_ == format.name) return format;
        throw UsageError(fmt::format("{}; formats: {}", format_.empty() ? "export needs a --format" : fmt::format("there is no format \"{}\"", format_),
                                     format_names(", ")));
    }

    void parse_choice() {
        TableChoice& choice = request_.choice;
        choice.has_phase = phase_option_->count() != 0;
        if (!iterations_.empty()) choice.iterations = iterations_option(iterations_);
        if (!ranks_.empty()) choice.ranks = ranks_option(ranks_);
        if (!metrics_.empty()) choice.metrics = metrics_option(metrics_);
        choice.events = filter_.filter();
        if (!depth_.empty()) request_.depths = parse_range(depth_, 0);
        if (!depth_.empty() && !request_.depths) throw UsageError(fmt::format("--depth {} is no range; write A:B, such as 0:20", printable(depth_)));
        for (const std::string& setting : set_) {
            const std::size_t equals = setting.find('=');
            if (equals == 0 || equals == std::string::npos) throw UsageError(fmt::format("--set {} has no name and value; write NAME=VALUE", setting));
            request_.set.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
        }
    }

    int write_to_output(const Profile& profile, const ExportFormat& format) {
        if (format.is_folder) throw UsageError(fmt::format("{} is a folder of files; name it with --output", format.name));
        StandardOutput out;
        print(profile, format.write(profile, request_, out));
        return 0;
    }

    /// What the user must know before trusting the file. On standard error, so that --output - stays clean.
    void print(const Profile& profile, const Remarks& remarks) const {
        if (!profile.complete)
            fmt::print(stderr, "libprofile: the profile is incomplete, and so is what was written; "
                               "libprofile report tells what is missing\n");
        for (const std::string& remark : foreign_remarks_) fmt::print(stderr, "libprofile: {}\n", printable(remark));
        for (const std::string& remark : remarks) fmt::print(stderr, "libprofile: {}\n", printable(remark));
    }

    std::string help_;
    ExportRequest request_;
    EventFilterOptions filter_;
    Remarks foreign_remarks_;
    CLI::Option* phase_option_ = nullptr;
    std::string path_, format_, output_, iterations_, ranks_, metrics_, depth_;
    std::vector<std::string> set_;
};

} // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

} // namespace libprofile::tools

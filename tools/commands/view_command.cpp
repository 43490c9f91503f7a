#include "tools/commands/add_names.hpp"
#include "tools/commands/chosen_parts.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/followed_job.hpp"
#include "tools/commands/foreign.hpp"
#include "tools/commands/measured_runs.hpp"
#include "tools/commands/number_between.hpp"
#include "tools/comparison/comparison.hpp"
#include "tools/names/labels.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/choice.hpp"
#include "tools/server/serve.hpp"
#include "tools/view/comparison_page.hpp"
#include "tools/view/page.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <spawn.h>
#include <thread>
#include <unistd.h>

namespace libprofile::tools {

namespace {

constexpr const char* view_help =
    "Examples:\n"
    "  libprofile view libprofile-app-1234                 writes libprofile-app-1234/view.html\n"
    "  libprofile view libprofile-app-1234 --open          and shows it in the browser\n"
    "  libprofile view libprofile-app-1234 -o app.html     a file to send to somebody: it needs nothing else\n"
    "  libprofile view libprofile-app-1234 --metric mpi    large profiles: the value map of this metric\n"
    "  libprofile view libprofile-app-1234 --serve --open  all metrics, and call paths of any iterations as exact as they are kept\n"
    "  libprofile view libprofile-app-1234 --serve --follow  a page of a job that still runs, which renews itself\n"
    "  libprofile view old new                             several runs side by side, as libprofile compare compares them\n"
    "  libprofile view yesterday=a1,a2,a3 today=b1,b2,b3   with repetitions: what is more than chance\n\n"
    "Usage: libprofile view FOLDER [options]\n"
    "       libprofile view RUN RUN [RUN ...] [options]\n"
    "FOLDER is the one that libprofile named at the end of the job, or a profile of another tool (HPCToolkit, Score-P, Caliper,\n"
    "TAU, pprof ...). The page is one HTML file that loads nothing from any network.\n\n"
    "Options:\n"
    "  -o, --output FILE    [FOLDER/view.html; of another tool's profile: view.html here; of several runs: comparison.html here]\n"
    "  --metric NAME        value maps of this metric: a name of docs/metrics.md, iteration_time or computation; of another\n"
    "                       tool's profile: trees of this metric; may be given several times [as many as fit into the page];\n"
    "                       of several runs: what they are compared by [time]\n"
    "  --with-source        the source text of the hottest functions goes into the file; a served page always shows it\n"
    "  --source-map OLD=NEW source files of the folder OLD are in NEW now; may be given several times\n"
    "  --open               show the page in the browser (xdg-open)\n"
    "  --serve              serve the page to this user's browser (127.0.0.1, with a token in the address) instead of writing a\n"
    "                       file: the page then asks for what is too large for a file. Ends with Ctrl-C, or when the page has\n"
    "                       been closed\n"
    "  --follow             with --serve, while the job runs: the page renews itself every 5 s, or as --every S says; what is shown and\n"
    "                       selected stays. The folder may not be there yet\n"
    "  --every S            with --follow: seconds between renewals, at least [5]\n"
    "  --port N             port of --serve, as for ssh -L [any free one]\n"
    "  --idle SECONDS       --serve also ends when the page was silent for this long [3600]\n"
    "  --index-from MIB     --serve leaves events in the profile if there are so many of them, and makes an index: the page asks for\n"
    "                       those that it shows. Less for a browser with little memory [16]\n\n"
    "Of several runs, which may be profiles of another tool (docs/compare.md):\n"
    "  --baseline RUN ...   these runs are repetitions of the baseline; after --, those of the new program\n"
    "  --phase NAME         this phase only; with --iterations: of this phase [the one that took most time]\n"
    "  --iterations A:B     these iterations only, counted from 1; A: and :B are open ranges\n"
    "  --rank LIST          these ranks only, such as 0,4-7\n"
    "  --threads            all threads of the ranks, not only the main ones\n"
    "  --align WAY          over time, what makes iterations the same: structure (their calls), work (the amount of it), step\n"
    "                       (their number), progress (their place in the run) [what fits best]\n";

void say_progress(std::size_t done, std::size_t all) {
    if (done == 0) fmt::print(stderr, "libprofile: making an index of the events, once ...\n");
    if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r{} of {} threads{}", done, all, done == all ? "\n" : "");
}

void write_file(const std::string& name, const std::string& text) {
    // Written next to it and renamed: a page is there whole or not at all.
    const std::string partial = name + ".partial";
    std::remove(partial.c_str());                         // of a command that was interrupted
    std::FILE* file = std::fopen(partial.c_str(), "wbx"); // no link that leads elsewhere
    bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    int why = errno;
    if (file != nullptr && std::fclose(file) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good && std::rename(partial.c_str(), name.c_str()) == 0) return;
    if (good) why = errno;
    if (file != nullptr) std::remove(partial.c_str());
    throw ViewError(fmt::format("cannot write {}: {}; give another name with --output", name, std::strerror(why)));
}

/// A file that leads the browser to an address. The address in an argument of xdg-open could be read by other users.
class Shortcut {
  public:
    explicit Shortcut(const std::string& address) {
        const char* own = std::getenv("XDG_RUNTIME_DIR");
        std::string pattern = std::string(own != nullptr && own[0] == '/' ? own : "/tmp") + "/libprofile-view-XXXXXX.html";
        const int file = ::mkstemps(pattern.data(), 5); // for this user only
        if (file < 0) throw ViewError(fmt::format("cannot write {}: {}; open the address above yourself", pattern, std::strerror(errno)));
        name_ = pattern;
        const std::string text = fmt::format("<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={}\">\n", address);
        const bool good = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
        ::close(file);
        const char* arguments[] = {"xdg-open", name_.c_str(), nullptr};
        pid_t child = 0;
        if (!good || ::posix_spawnp(&child, arguments[0], nullptr, nullptr, const_cast<char**>(arguments), environ) != 0)
            fmt::print(stderr, "libprofile: there is no xdg-open here; open the address yourself\n");
    }
    Shortcut(const Shortcut&) = delete;
    Shortcut& operator=(const Shortcut&) = delete;
    ~Shortcut() { ::unlink(name_.c_str()); }

  private:
    std::string name_;
};

class ViewCommand final : public Command {
  public:
    const char* name() const override { return "view"; }
    const char* summary() const override { return "write a page for the browser: iterations, value maps, call trees, comparisons"; }
    const char* help() const override { return view_help; }

    void declare(CLI::App& app) override {
        app.add_option("folder", paths_);
        app.add_option("-o,--output", output_);
        app.add_option("--metric", request_.metrics)->take_all()->expected(1);
        app.add_flag("--with-source", request_.with_source);
        app.add_option("--source-map", source_maps_)->take_all()->expected(1);
        app.add_flag("--open", open_);
        app.add_flag("--serve", serve_);
        app.add_flag("--follow", follow_);
        every_option_ = app.add_option("--every", every_)->check(number_between(0.1, 86400));
        app.add_option("--port", serving_.port)->check(CLI::Range(1, 65535));
        app.add_option("--idle", serving_.silence_s)->check(CLI::Range(1, 1000000));
        index_option_ = app.add_option("--index-from", index_from_)->check(CLI::Range(0, 1'000'000));
        app.add_option("--baseline", baseline_)->expected(1, 10'000);
        phase_option_ = app.add_option("--phase", choice_.phase);
        app.add_option("--iterations", iterations_);
        app.add_option("--rank,--ranks", ranks_);
        app.add_flag("--threads", choice_.threads);
        app.add_option("--align", align_)->type_name("structure|work|step|progress");
    }

    int run() override {
        if (paths_.empty() && baseline_.empty()) throw UsageError("view needs the folder of a profile: libprofile view libprofile-<program>-<job>");
        if (paths_.size() > 1 || !baseline_.empty() || is_named(paths_.front())) return compare();
        if (phase_option_->count() != 0 || !iterations_.empty() || !ranks_.empty() || choice_.threads || !align_.empty())
            throw UsageError("--phase, --iterations, --rank, --threads and --align are for several runs; of one run, select them in the page");
        path_ = paths_.front();
        for (const std::string& map : source_maps_) request_.source_maps.push_back(source_map_option(map));
        if (!source_maps_.empty() && !request_.with_source && !serve_) throw UsageError("--source-map is for --with-source and --serve");
        if (request_.with_source && serve_) throw UsageError("a served page shows source as it is; leave out --with-source");
        if (follow_ && !serve_) throw UsageError("--follow is for --serve: a file cannot renew itself");
        if (every_option_->count() != 0 && !follow_) throw UsageError("--every is for --follow");
        if (index_option_->count() != 0 && (!serve_ || follow_)) throw UsageError("--index-from is for --serve of a run that has ended");
        if (serve_ && !output_.empty()) throw UsageError("--serve writes no file; leave out --output");
        request_.folder = path_;
        if (const std::optional<Frame> foreign = foreign_profile(
                path_, {{serve_, "--serve", "all of it fits into a file"}, {request_.with_source, "--with-source", "it has no values of single lines"}}))
            return finish(page(*foreign, request_.metrics), "view.html");
        if (follow_) return follow_page();
        Profile profile = serve_ ? read_profile_without_events(std::filesystem::path(path_), index_from_ << 20) : read_profile(std::filesystem::path(path_));
        add_names(profile, path_);
        if (serve_) {
            request_.on_index = say_progress;
            Snapshots snapshots(request_, false);
            snapshots.publish(snapshots.make(std::move(profile)), JobState::Ended);
            serve_page(snapshots, {});
            return 0;
        }
        std::error_code error;
        const bool folder = std::filesystem::is_directory(path_, error);
        return finish(page(profile, request_), folder ? (std::filesystem::path(path_) / "view.html").string() : "view.html");
    }

  private:
    /// Writes the page and shows it.
    /// @param usual the name of the file without --output
    int finish(const std::string& text, const std::string& usual) const {
        const std::string file = output_.empty() ? usual : output_;
        write_file(file, text);
        fmt::print("{} ({:.1f} MB): open it in a browser\n", printable(file), static_cast<double>(text.size()) / 1e6);
        if (open_) {
            std::fflush(stdout);
            ::execlp("xdg-open", "xdg-open", file.c_str(), static_cast<char*>(nullptr));
            throw ViewError(fmt::format("there is no xdg-open here; open {} in a browser", file));
        }
        return 0;
    }

    /// The page of several runs.
    int compare() {
        if (follow_ || every_option_->count() != 0) throw UsageError("--follow is for a single run");
        if (index_option_->count() != 0) throw UsageError("--index-from is for a single run");
        if (request_.with_source || !source_maps_.empty()) throw UsageError("the page of several runs has no source; leave out --with-source and --source-map");
        if (serve_ && !output_.empty()) throw UsageError("--serve writes no file; leave out --output");
        if (request_.metrics.size() > 1) throw UsageError("several runs are compared by one metric; give --metric once");
        if (!request_.metrics.empty()) choice_.metric = request_.metrics.front();
        choice_.has_phase = phase_option_->count() != 0;
        if (!iterations_.empty()) choice_.iterations = iterations_option(iterations_);
        if (!ranks_.empty()) choice_.ranks = ranks_option(ranks_);
        const std::vector<NamedPlaces> places = compared_places(paths_, baseline_, "view");
        OverTimeRequest over_time{nullptr, why_not_over_time(places), choice_, align_option(align_)};
        std::optional<ProfilesOfGroups> profiles;
        if (over_time.absent.empty()) over_time.groups = &profiles.emplace(read_profiles(places)).groups;
        std::vector<RunGroup> groups = profiles ? runs_of(profiles->groups, choice_) : read_groups(places, choice_);
        const Comparison comparison = compare_groups(groups, choice_);
        std::string text = page_around(comparison_page_data(comparison, groups, over_time, serve_), serve_);
        if (!serve_) return finish(text, "comparison.html");
        serve_pages([&](const auto& ready) { return serve(std::move(text), serving_, ready); });
        return 0;
    }

    /// Empty if runs of this choice may have iterations to compare.
    std::string why_not_over_time(const std::vector<NamedPlaces>& places) const {
        if (!choice_.is_of_time()) return fmt::format("over time, runs are compared by time, not by {}", choice_.metric);
        const std::string foreign = foreign_place(places);
        return foreign.empty() ? "" : fmt::format("{} is of another tool and has no iterations", foreign);
    }

    void serve_page(Snapshots& snapshots, const std::function<void(std::stop_token)>& beside) const {
        serve_pages([&](const auto& ready) { return serve(snapshots, serving_, ready, beside); });
    }

    /// @param start serves, and calls what it is given with the address
    void serve_pages(const std::function<bool(const std::function<void(const std::string&)>&)>& start) const {
        std::optional<Shortcut> shortcut;
        const bool signalled = start([&](const std::string& address) {
            fmt::print("{}\nOpen it in a browser on this machine; it is for you alone. Ctrl-C ends.\n", address);
            std::fflush(stdout);
            if (open_) shortcut.emplace(address);
        });
        fmt::print("{}\n", signalled ? "Ended." : "Ended: the page has been closed.");
    }

    /// As long as the job runs, the newest state of it.
    int follow_page() {
        NameCache names;
        FollowedJob job(path_, every_);
        Snapshots snapshots(request_, true);
        std::optional<JobState> state;
        const auto look = [&] {
            std::shared_ptr<Snapshot> fresh;
            const std::optional<JobState> found = job.look([&]() -> const Profile& {
                Profile profile = read_profile(std::filesystem::path(path_));
                add_names(profile, names);
                try {
                    fresh = snapshots.make(std::move(profile));
                } catch (const ViewError& error) { // of a metric that may come yet
                    throw SelectionError(error.what());
                }
                return fresh->profile;
            });
            if (!found) return;
            state = found;
            snapshots.publish(std::move(fresh), *found);
            if (*found == JobState::Gone) job.say_killed();
        };
        for (look(); !state; look()) std::this_thread::sleep_for(job.pause());
        serve_page(snapshots, [&](std::stop_token stop) {
            try {
                while (!is_over(*state) && snapshots.wait_for_question(job.pause(), stop)) look();
            } catch (const std::exception& error) { // of the profile that the job wrote
                snapshots.fail(error.what());
                fmt::print(stderr, "libprofile: {}\n", printable(error.what()));
            }
        });
        return *state == JobState::Gone ? 1 : 0;
    }

    std::vector<std::string> paths_, baseline_;
    std::string path_; // of a single run
    RunChoice choice_; // of several runs
    std::string iterations_, ranks_, align_;
    CLI::Option* phase_option_ = nullptr;
    std::string output_;
    std::vector<std::string> source_maps_;
    PageRequest request_;
    bool open_ = false;
    bool serve_ = false;
    bool follow_ = false;
    double every_ = 5;
    CLI::Option* every_option_ = nullptr;
    std::uint64_t index_from_ = 16; // MiB of stored events
    CLI::Option* index_option_ = nullptr;
    ServeRequest serving_;
};

} // namespace

std::unique_ptr<Command> make_view_command() { return std::make_unique<ViewCommand>(); }

} // namespace libprofile::tools

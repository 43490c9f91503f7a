#include "tools/commands/commands.hpp"
#include "tools/names/expand_inlined.hpp"
#include "tools/names/resolve.hpp"
#include "tools/profile/reader.hpp"
#include "tools/view/page.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

constexpr const char* help_text =
    "Examples:\n"
    "  libprofile view libprofile-app-1234                 writes libprofile-app-1234/view.html\n"
    "  libprofile view libprofile-app-1234 --open          and shows it in the browser\n"
    "  libprofile view libprofile-app-1234 -o app.html     a file to send to somebody: it needs nothing else\n"
    "  libprofile view libprofile-app-1234 --metric mpi    large profiles: the value map of this metric\n\n"
    "Usage: libprofile view FOLDER [options]\n"
    "FOLDER is the one that libprofile named at the end of the job. The page is one HTML file that loads nothing from any network.\n\n"
    "Options:\n"
    "  -o, --output FILE    [FOLDER/view.html]\n"
    "  --metric NAME        of the value maps, by the names of docs/metrics.md, or iteration_time or computation; may be\n"
    "                       given several times [as many as fit into the page]\n"
    "  --open               show the page in the browser (xdg-open)\n";

void write_file(const std::string& name, const std::string& text) {
    // Beside its place and renamed, so that a page is there whole or not at all.
    const std::string partial = name + ".partial";
    std::FILE* file = std::fopen(partial.c_str(), "wb");
    bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    int why = errno;
    if (file != nullptr && std::fclose(file) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good && std::rename(partial.c_str(), name.c_str()) == 0)
        return;
    if (good)
        why = errno;
    if (file != nullptr)
        std::remove(partial.c_str());
    throw ViewError(fmt::format("cannot write {}: {}; choose another place with --output", name, std::strerror(why)));
}

class ViewCommand final : public Command {
  public:
    const char* name() const override { return "view"; }
    const char* summary() const override { return "write a page for the browser: iterations, value maps, call trees, comparisons"; }
    const char* help() const override { return help_text; }

    void declare(CLI::App& app) override {
        app.add_option("folder", place_);
        app.add_option("-o,--output", output_);
        app.add_option("--metric", request_.metrics)->take_all()->expected(1);
        app.add_flag("--open", open_);
    }

    int run() override {
        if (place_.empty())
            throw UsageError("view needs the folder of a profile: libprofile view libprofile-<program>-<job>");
        Profile profile = read_profile(std::filesystem::path(place_));
        const Resolution resolution = resolve_names(profile, ::isatty(STDERR_FILENO) != 0);
        std::error_code error;
        const bool folder = std::filesystem::is_directory(place_, error);
        if (resolution.added != 0 && folder)
            store_names(profile, place_);
        expand_inlined(profile);
        for (const std::string& module : resolution.different)
            profile.notes.push_back(fmt::format("{} was rebuilt since the job ran; its functions have no names here", module));
        const std::string text = page(profile, request_);
        const std::string file = !output_.empty() ? output_ : folder ? (std::filesystem::path(place_) / "view.html").string() : "view.html";
        write_file(file, text);
        fmt::print("{} ({:.1f} MB): open it in a browser\n", file, static_cast<double>(text.size()) / 1e6);
        if (open_) {
            std::fflush(stdout);
            ::execlp("xdg-open", "xdg-open", file.c_str(), static_cast<char*>(nullptr));
            throw ViewError(fmt::format("there is no xdg-open here; open {} in a browser", file));
        }
        return 0;
    }

  private:
    std::string place_;
    std::string output_;
    PageRequest request_;
    bool open_ = false;
};

} // namespace

std::unique_ptr<Command> make_view_command() { return std::make_unique<ViewCommand>(); }

} // namespace libprofile::tools

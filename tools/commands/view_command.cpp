#include "tools/commands/add_names.hpp"
#include "tools/commands/chosen_parts.hpp"
#include "tools/commands/commands.hpp"
#include "tools/names/labels.hpp"
#include "tools/reader/reader.hpp"
#include "tools/server/serve.hpp"
#include "tools/view/page.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <spawn.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

constexpr const char* view_help =
    "Examples:\n"
    "  libprofile view libprofile-app-1234                 writes libprofile-app-1234/view.html\n"
    "  libprofile view libprofile-app-1234 --open          and shows it in the browser\n"
    "  libprofile view libprofile-app-1234 -o app.html     a file to send to somebody: it needs nothing else\n"
    "  libprofile view libprofile-app-1234 --metric mpi    large profiles: the value map of this metric\n"
    "  libprofile view libprofile-app-1234 --serve --open  all metrics, and call paths of any iterations as exact as they are kept\n\n"
    "Usage: libprofile view FOLDER [options]\n"
    "FOLDER is the one that libprofile named at the end of the job. The page is one HTML file that loads nothing from any network.\n\n"
    "Options:\n"
    "  -o, --output FILE    [FOLDER/view.html]\n"
    "  --metric NAME        value maps of this metric: a name of docs/metrics.md, iteration_time or computation; may be\n"
    "                       given several times [as many as fit into the page]\n"
    "  --with-source        the source text of the hottest functions goes into the file; a served page always shows it\n"
    "  --source-map OLD=NEW source files of the folder OLD are in NEW now; may be given several times\n"
    "  --open               show the page in the browser (xdg-open)\n"
    "  --serve              serve the page to this user's browser (127.0.0.1, with a token in the address) instead of writing a\n"
    "                       file: the page then asks for what is too large for a file. Ends with Ctrl-C, or when the page has\n"
    "                       been closed\n"
    "  --port N             port of --serve, as for ssh -L [any free one]\n"
    "  --idle SECONDS       --serve also ends when the page was silent for this long [3600]\n";

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
        app.add_option("folder", path_);
        app.add_option("-o,--output", output_);
        app.add_option("--metric", request_.metrics)->take_all()->expected(1);
        app.add_flag("--with-source", request_.with_source);
        app.add_option("--source-map", source_maps_)->take_all()->expected(1);
        app.add_flag("--open", open_);
        app.add_flag("--serve", serve_);
        app.add_option("--port", serving_.port)->check(CLI::Range(1, 65535));
        app.add_option("--idle", serving_.silence_s)->check(CLI::Range(1, 1000000));
    }

    int run() override {
        if (path_.empty()) throw UsageError("view needs the folder of a profile: libprofile view libprofile-<program>-<job>");
        for (const std::string& map : source_maps_) request_.source_maps.push_back(source_map_option(map));
        if (!source_maps_.empty() && !request_.with_source && !serve_) throw UsageError("--source-map is for --with-source and --serve");
        if (request_.with_source && serve_) throw UsageError("a served page shows source as it is; leave out --with-source");
        Profile profile = read_profile(std::filesystem::path(path_));
        add_names(profile, path_);
        if (serve_) {
            if (!output_.empty()) throw UsageError("--serve writes no file; leave out --output");
            return serve_page(profile);
        }
        const std::string text = page(profile, request_);
        std::error_code error;
        const bool folder = std::filesystem::is_directory(path_, error);
        const std::string file = !output_.empty() ? output_ : folder ? (std::filesystem::path(path_) / "view.html").string() : "view.html";
        write_file(file, text);
        fmt::print("{} ({:.1f} MB): open it in a browser\n", printable(file), static_cast<double>(text.size()) / 1e6);
        if (open_) {
            std::fflush(stdout);
            ::execlp("xdg-open", "xdg-open", file.c_str(), static_cast<char*>(nullptr));
            throw ViewError(fmt::format("there is no xdg-open here; open {} in a browser", file));
        }
        return 0;
    }

  private:
    int serve_page(const Profile& profile) const {
        std::optional<Shortcut> shortcut;
        const bool signalled = serve(profile, request_, serving_, [&](const std::string& address) {
            fmt::print("{}\nOpen it in a browser on this machine; it is for you alone. Ctrl-C ends.\n", address);
            std::fflush(stdout);
            if (open_) shortcut.emplace(address);
        });
        fmt::print("{}\n", signalled ? "Ended." : "Ended: the page has been closed.");
        return 0;
    }

    std::string path_;
    std::string output_;
    std::vector<std::string> source_maps_;
    PageRequest request_;
    bool open_ = false;
    bool serve_ = false;
    ServeRequest serving_;
};

} // namespace

std::unique_ptr<Command> make_view_command() { return std::make_unique<ViewCommand>(); }

} // namespace libprofile::tools

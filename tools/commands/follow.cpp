#include "tools/commands/follow.hpp"

#include "tools/commands/followed_job.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

namespace libprofile::tools {

namespace {

namespace fs = std::filesystem;

/// Of the phase that has most.
std::uint64_t iterations_of(const Profile& profile) {
    std::uint64_t most = 0;
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases) most = std::max<std::uint64_t>(most, data.iteration_ns.size());
    return most;
}

std::string status_line(JobState state, std::uint64_t iterations) {
    const char* const words[] = {"the job has ended", "the job runs", "the job was killed", "the job runs on other machines, or was killed"};
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return fmt::format("{:%H:%M:%S}: {}, {} so far", fmt::localtime(now), words[static_cast<std::size_t>(state)], plural(iterations, "iteration"));
}

/// The document with what is known of the job in "follow".
std::string json_line(const std::string& text, JobState state, std::uint64_t iterations) {
    nlohmann::ordered_json document = nlohmann::ordered_json::parse(text);
    document["follow"] = {{"job", job_state_name(state)}, {"iterations", iterations}};
    return document.dump() + "\n";
}

/// Over what the terminal shows, cut to its rows: the last renewal stays whole.
void draw(const std::string& text, bool is_last) {
    winsize size{};
    const bool knows_rows = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1;
    std::string out = "\x1b[H";
    std::size_t row = 0;
    for (std::size_t at = 0; at < text.size(); ++row) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (!is_last && knows_rows && row + 1 >= size.ws_row) break;
        out += text.substr(at, end - at) + "\x1b[K\n";
        at = end + 1;
    }
    out += "\x1b[J";
    std::fwrite(out.data(), 1, out.size(), stdout);
    std::fflush(stdout);
}

void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

} // namespace

int follow(const fs::path& folder, const FollowStyle& style, const std::function<Renewal()>& renew) {
    const bool is_screen = !style.is_json && ::isatty(STDOUT_FILENO) != 0;
    FollowedJob job(folder, style.seconds);
    if (is_screen) print("\x1b[2J");
    while (true) {
        Renewal renewal;
        const std::optional<JobState> state = job.look([&]() -> const Profile& {
            renewal = renew();
            return renewal.profile;
        });
        if (state) {
            const std::uint64_t iterations = iterations_of(renewal.profile);
            const std::string status = status_line(*state, iterations);
            if (style.is_json)
                print(json_line(renewal.text, *state, iterations));
            else if (is_screen)
                draw(status + "\n\n" + renewal.text, is_over(*state));
            else
                print(fmt::format("--- {}\n{}\n", status, renewal.text));
            if (*state == JobState::Gone) job.say_killed();
            if (is_over(*state)) return *state == JobState::Ended ? 0 : 1;
        }
        std::this_thread::sleep_for(job.pause());
    }
}

} // namespace libprofile::tools

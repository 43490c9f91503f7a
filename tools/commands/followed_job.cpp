#include "tools/commands/followed_job.hpp"

#include "tools/names/labels.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/choice.hpp"
#include "tools/text/shell.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

namespace libprofile::tools {

void FollowedJob::wait_for(const char* what) {
    if (!has_said_) fmt::print(stderr, "libprofile: waiting for the job: {}\n", printable(what));
    has_said_ = true;
}

std::optional<JobState> FollowedJob::look(const std::function<const Profile&()>& read) {
    begin_ = Clock::now();
    while (true) {
        const bool is_whole = has_whole_profile(folder_);
        try {
            const Profile& profile = read();
            if (is_whole) return JobState::Ended;
            if (has_whole_profile(folder_)) continue; // it may have been read before
            const JobState state = state_of_ranks(profile, folder_);
            if (state != JobState::Gone) return state;
            // The files of a job that just ended are replaced: it is killed only if that does not happen for two looks.
            if (!was_gone_) {
                was_gone_ = true;
                return JobState::Running;
            }
            return state;
        } catch (const ReadError& error) {
            if (is_whole) throw;
            wait_for(error.what());
        } catch (const SelectionError& error) { // what was chosen may come yet
            if (is_whole) throw;
            wait_for(error.what());
        }
        return std::nullopt;
    }
}

void FollowedJob::say_killed() const {
    fmt::print(stderr, "libprofile: the job was killed or left without writing its profile; this is what its live files have. Next: libprofile recover {}\n",
               printable(shell_word(folder_.string())));
}

std::chrono::duration<double> FollowedJob::pause() const {
    const std::chrono::duration<double> taken = Clock::now() - begin_;
    return std::max(least_, 4 * taken);
}

} // namespace libprofile::tools

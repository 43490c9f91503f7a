// A job that is looked at again and again while it runs, until it is over: what `--follow` does, whatever it shows.
// Contract: one thread; says on standard error, once, why there is nothing yet. The job is told nothing: its live files are read as they are.
#pragma once

#include "tools/reader/job_state.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

namespace libprofile::tools {

class FollowedJob {
  public:
    /// @param seconds between two looks, at least; reading takes at most a fifth of the time
    FollowedJob(std::filesystem::path folder, double seconds) : folder_(std::move(folder)), least_(seconds) {}

    /// @param read reads the folder anew; throws ReadError or SelectionError while there is not what it needs
    /// @return nothing as long as there is nothing to read
    /// @throws what `read` throws once the job is over
    std::optional<JobState> look(const std::function<const Profile&()>& read);

    /// Says on standard error that the job was killed, and what to do next. For after what was shown last.
    void say_killed() const;

    /// From now to the next look.
    std::chrono::duration<double> pause() const;

  private:
    using Clock = std::chrono::steady_clock;

    void wait_for(const char* what);

    std::filesystem::path folder_;
    std::chrono::duration<double> least_;
    Clock::time_point begin_; // of the last look
    bool has_said_ = false, was_gone_ = false;
};

inline bool is_over(JobState state) { return state == JobState::Ended || state == JobState::Gone; }

} // namespace libprofile::tools

// What a server has to show: one profile, or the last few states of a job that runs. A page asks about the state that it shows until it has
// renewed itself, so the states before the newest one are kept for a while.
// Contract: thread-safe; allocates in proportion to the profiles. The profiles of different states are read by different threads, each of which is
// used by one thread at a time.
#pragma once

#include "tools/reader/job_state.hpp"
#include "tools/server/page_server.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace libprofile::tools {

/// One state, and the answers to questions about it.
struct Snapshot {
    /// @throws ViewError when the page cannot be made
    Snapshot(Profile of, PageRequest how);
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

    const Profile profile;
    const PageRequest request;
    PageServer answers;
    const std::string data; // of the page
};

class Snapshots {
  public:
    /// @param request of the pages; what serving needs is added
    /// @param is_live more states may come
    Snapshots(PageRequest request, bool is_live);

    /// The next state, for publish(). For one thread.
    /// @throws ViewError when the page cannot be made
    std::shared_ptr<Snapshot> make(Profile profile);
    void publish(std::shared_ptr<Snapshot> snapshot, JobState job);

    /// No other states come; one sentence says why.
    void fail(const std::string& why);

    bool is_live() const { return is_live_; }

    /// Null before the first one.
    std::shared_ptr<Snapshot> newest() const;
    /// Null if it is no longer kept.
    std::shared_ptr<Snapshot> find(std::uint64_t number) const;

    /// What a page that shows a state asks again and again, as JSON: the newest state's number, how old it is, and what the job does.
    std::string news();

    /// Returns when this time is over and a page has asked for news. A page that is paused, hidden or closed does not ask: then nothing is read.
    /// @return false: the server ends
    bool wait_for_question(std::chrono::duration<double> least, std::stop_token stop);

  private:
    static constexpr std::size_t most_kept = 4;

    PageRequest request_;
    const bool is_live_;
    std::uint64_t made_ = 0;
    std::chrono::steady_clock::time_point read_at_; // of what make() made last
    mutable std::mutex mutex_;                      // of what follows
    std::condition_variable_any asked_for_;
    bool is_asked_for_ = false;
    std::deque<std::shared_ptr<Snapshot>> kept_; // the newest last
    std::chrono::steady_clock::time_point newest_at_;
    JobState job_ = JobState::Unknown;
    std::string failure_;
};

} // namespace libprofile::tools

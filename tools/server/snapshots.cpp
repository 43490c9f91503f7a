#include "tools/server/snapshots.hpp"

#include "tools/text/json_text.hpp"
#include "tools/text/shell.hpp"

#include <algorithm>
#include <utility>

namespace libprofile::tools {

using Clock = std::chrono::steady_clock;

Snapshot::Snapshot(Profile of, PageRequest how)
    : profile(std::move(of)), request(std::move(how)), answers(profile, request), data(page_data(profile, request, answers.window())) {}

Snapshots::Snapshots(PageRequest request, bool is_live) : request_(std::move(request)), is_live_(is_live) {
    request_.served = true;
    // The page is there sooner with one map; it can ask for the others.
    if (request_.metrics.empty()) request_.most_maps = 1;
}

std::shared_ptr<Snapshot> Snapshots::make(Profile profile) {
    read_at_ = Clock::now();
    PageRequest request = request_;
    if (is_live_) request.snapshot = ++made_;
    return std::make_shared<Snapshot>(std::move(profile), std::move(request));
}

void Snapshots::publish(std::shared_ptr<Snapshot> snapshot, JobState job) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(snapshot));
    if (kept_.size() > most_kept) kept_.pop_front();
    newest_at_ = read_at_;
    job_ = job;
    is_asked_for_ = false;
}

void Snapshots::fail(const std::string& why) {
    const std::lock_guard lock(mutex_);
    failure_ = why;
}

std::shared_ptr<Snapshot> Snapshots::newest() const {
    const std::lock_guard lock(mutex_);
    return kept_.empty() ? nullptr : kept_.back();
}

std::shared_ptr<Snapshot> Snapshots::find(std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    const auto at = std::find_if(kept_.begin(), kept_.end(), [&](const auto& one) { return one->request.snapshot == number; });
    return at == kept_.end() ? nullptr : *at;
}

std::string Snapshots::news() {
    const std::lock_guard lock(mutex_);
    is_asked_for_ = true;
    asked_for_.notify_all();
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - newest_at_);
    return json_text({{"snapshot", kept_.empty() ? 0 : kept_.back()->request.snapshot},
                      {"age_ms", age.count()},
                      {"job", job_state_name(job_)},
                      {"failure", failure_},
                      {"next", "libprofile recover " + shell_word(request_.folder)}});
}

bool Snapshots::wait_for_question(std::chrono::duration<double> least, std::stop_token stop) {
    std::unique_lock lock(mutex_);
    asked_for_.wait_for(lock, stop, least, [] { return false; });
    return asked_for_.wait(lock, stop, [this] { return is_asked_for_; });
}

} // namespace libprofile::tools

#include "libprofile/output/job_clock.hpp"

#include "format/clock.hpp"
#include "libprofile/base/clock_id.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/output/block_writer.hpp"
#include "libprofile/output/polled_pairs.hpp"

namespace libprofile {

namespace {

ClockMail mail; // until the end of MPI

} // namespace

JobClock::JobClock() noexcept : id_(monotonic_clock_id()), compared_{id_, most - id_} {}

bool JobClock::relate(PolledCollectives& job) noexcept {
    if (compared_[0] == most - compared_[1]) return true;
    const auto rank = static_cast<std::uint64_t>(process.job().rank), ranks = static_cast<std::uint64_t>(process.job().ranks);
    using Exchange = ClockExchange<PolledCollectives, PolledPairs>;
    PageBudget budget(memory_quota.limit());
    PageArray<int> words(budget);
    PageArray<std::uint32_t> leaders(budget);
    const bool has_room =
        ranks <= Exchange::most_ranks && words.append(PolledPairs::words_per_rank * ranks) != nullptr && leaders.append(Exchange::most_machines) != nullptr;
    PolledPairs pairs(job, words, Polling::Prompt);
    Exchange exchange(job, pairs, mail, leaders, rank, id_);
    if (!exchange.run(has_room, [] { return Clock::monotonic(); })) return false;
    relation_ = exchange.relation();
    return true;
}

bool JobClock::write(BlockBuffer& buffer, RunningThread running) const noexcept {
    const Clock::Reading reading = session_clock.read();
    ClockRecord record{id_,
                       session_clock.origin(),
                       0,
                       reading.own_ns,
                       reading.monotonic_ns,
                       relation_.is_known ? std::uint64_t{1} : 0,
                       relation_.offset_ns,
                       relation_.uncertainty_ns};
    for_each_location(running, [&](Thread& thread, std::uint64_t) {
        if (thread.index == 0) record.main_ns = thread.started_at;
    });
    return write_block(buffer, {BlockType::Clock, static_cast<std::uint32_t>(process.job().rank)}, [&](Encoder& encoder) { describe(encoder, record); });
}

} // namespace libprofile

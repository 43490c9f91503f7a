// Clocks of machines are compared among threads that play ranks, with clocks of their own.
#include "libprofile/output/clock_exchange.hpp"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace libprofile {

namespace {

/// Minima over all ranks, and messages between pairs. One operation in all may fail.
class ClockNetwork {
  public:
    explicit ClockNetwork(std::size_t ranks) : ranks_(ranks) {}
    std::uint64_t fails_at = ~std::uint64_t{0}; // the operation of rank 0
    std::uint64_t minima = 0, messages = 0;
    std::map<std::uint64_t, std::uint64_t> messages_of; // by sender

    struct Port {
        ClockNetwork* network;
        std::uint64_t rank;
        std::uint64_t operations = 0;
        bool min(std::uint64_t* values, int count) { return network->min(*this, values, count); }
        bool step(std::uint64_t partner, const void* out, std::size_t out_size, void* in, std::size_t in_size) {
            return network->step(*this, partner, out, out_size, in, in_size);
        }
    };

  private:
    bool fail(Port& port) {
        if (port.rank == 0 && port.operations++ == fails_at) has_failed_ = true;
        arrived_.notify_all();
        return has_failed_;
    }
    bool min(Port& port, std::uint64_t* values, int count) {
        std::unique_lock lock(mutex_);
        if (fail(port)) return false;
        const std::uint64_t number = minima;
        if (here_ == 0) std::fill(std::begin(least_), std::end(least_), ~std::uint64_t{0});
        for (int i = 0; i < count; ++i) {
            EXPECT_EQ(values[i] >> 63, 0u) << "some MPIs compare signed numbers";
            least_[i] = std::min(least_[i], values[i]);
        }
        if (++here_ == ranks_) {
            here_ = 0;
            ++minima;
            std::copy(std::begin(least_), std::end(least_), std::begin(found_));
            arrived_.notify_all();
        }
        arrived_.wait(lock, [&] { return minima != number || has_failed_; });
        if (minima == number) return false;
        std::copy(found_, found_ + count, values);
        return true;
    }
    bool step(Port& port, std::uint64_t partner, const void* out, std::size_t out_size, void* in, std::size_t in_size) {
        std::unique_lock lock(mutex_);
        if (fail(port)) return false;
        if (out_size != 0) {
            const auto* bytes = static_cast<const unsigned char*>(out);
            mail_[{port.rank, partner}].assign(bytes, bytes + out_size);
            ++messages;
            ++messages_of[port.rank];
            arrived_.notify_all();
        }
        if (in_size == 0) return true;
        const std::pair key(partner, port.rank);
        arrived_.wait(lock, [&] { return mail_.contains(key) || has_failed_; });
        if (!mail_.contains(key)) return false;
        EXPECT_EQ(mail_[key].size(), in_size);
        std::memcpy(in, mail_[key].data(), in_size);
        mail_.erase(key);
        return true;
    }

    std::size_t ranks_, here_ = 0;
    bool has_failed_ = false;
    std::uint64_t least_[4], found_[4];
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<unsigned char>> mail_; // by sender and receiver
    std::mutex mutex_;
    std::condition_variable arrived_;
};

std::uint64_t true_time() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

struct Outcome {
    std::vector<ClockRelation> relations;
    std::vector<char> succeeded;
};

/// @param clocks by rank; a rank's clock is ahead of the true time by `ahead(clock)`
template <class Ahead> Outcome compare_clocks(ClockNetwork& network, const std::vector<std::uint64_t>& clocks, Ahead ahead, std::size_t without_room = ~0u) {
    using Exchange = ClockExchange<ClockNetwork::Port, ClockNetwork::Port>;
    Outcome outcome{std::vector<ClockRelation>(clocks.size()), std::vector<char>(clocks.size())};
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < clocks.size(); ++r)
        threads.emplace_back([&, r] {
            PageBudget budget(1 << 20);
            PageArray<std::uint32_t> leaders(budget);
            leaders.append(Exchange::most_machines);
            ClockMail mail;
            ClockNetwork::Port port{&network, r};
            Exchange exchange(port, port, mail, leaders, r, clocks[r]);
            outcome.succeeded[r] = exchange.run(r != without_room, [&] { return true_time() + ahead(clocks[r]); });
            outcome.relations[r] = exchange.relation();
        });
    for (std::thread& thread : threads) thread.join();
    return outcome;
}

std::int64_t distance(std::int64_t a, std::int64_t b) { return a < b ? b - a : a - b; }

} // namespace

TEST(ClockExchange, OffsetsOfAllMachinesAreWithinTheirUncertainty) {
    // Seven machines whose ranks are mixed, clocks that differ in the last bits only, and a rank that does not know its clock.
    const std::uint64_t high = std::uint64_t{0x1234567890} << 24; // 61 bits
    const std::vector<std::uint64_t> clocks = {7ull << 40, 0,          7ull << 40, 9ull << 40, 1ull << 40, 9ull << 40,
                                               3ull << 41, 5ull << 42, high + 1,   high + 2,   high + 1,   1};
    const auto ahead = [](std::uint64_t clock) { return (clock >> 40) * 3600000000000u + clock % 1024 * 1000000000u; };
    ClockNetwork network(clocks.size());
    const Outcome outcome = compare_clocks(network, clocks, ahead);
    for (std::size_t r = 0; r < clocks.size(); ++r) {
        EXPECT_TRUE(outcome.succeeded[r]);
        const ClockRelation& found = outcome.relations[r];
        if (r == 1 || r == 9) { // 9: the machine of rank 8 has the same first bits
            EXPECT_FALSE(found.is_known) << "rank " << r;
            continue;
        }
        ASSERT_TRUE(found.is_known) << "rank " << r;
        const auto expected = static_cast<std::int64_t>(ahead(clocks[0]) - ahead(clocks[r]));
        EXPECT_LE(distance(found.offset_ns, expected), static_cast<std::int64_t>(found.uncertainty_ns)) << "rank " << r;
        EXPECT_EQ(found.uncertainty_ns == 0, clocks[r] == clocks[0]) << "rank " << r;
        EXPECT_EQ(found.offset_ns, outcome.relations[r == 10 ? 8 : r == 5 ? 3 : r].offset_ns) << "of one machine";
    }
    EXPECT_EQ(network.messages, 6u * 2 * 32) << "7 machines in a tree";
    for (const std::uint64_t silent : {1, 2, 5, 9, 10}) EXPECT_EQ(network.messages_of.count(silent), 0u) << "not the lowest rank of its machine";
}

TEST(ClockExchange, AnySmallNumberOfMachinesIsCompared) {
    for (std::size_t machines = 2; machines <= 9; ++machines) {
        std::vector<std::uint64_t> clocks;
        for (std::size_t m = 0; m < machines; ++m) clocks.push_back((m + 1) << 40);
        ClockNetwork network(machines);
        const Outcome outcome = compare_clocks(network, clocks, [](std::uint64_t clock) { return clock; });
        for (std::size_t r = 0; r < machines; ++r) {
            EXPECT_TRUE(outcome.succeeded[r] && outcome.relations[r].is_known);
            const auto expected = static_cast<std::int64_t>(clocks[0] - clocks[r]);
            EXPECT_LE(distance(outcome.relations[r].offset_ns, expected), static_cast<std::int64_t>(outcome.relations[r].uncertainty_ns));
        }
        EXPECT_EQ(network.messages, (machines - 1) * 2 * 32);
    }
}

TEST(ClockExchange, WithoutMemoryOnOneRankNothingIsMeasuredAndAllGoOn) {
    ClockNetwork network(3);
    const Outcome outcome = compare_clocks(
        network, {1ull << 40, 2ull << 40, 3ull << 40}, [](std::uint64_t) { return 0; }, 1);
    for (std::size_t r = 0; r < 3; ++r) EXPECT_TRUE(outcome.succeeded[r] && !outcome.relations[r].is_known);
    EXPECT_EQ(network.messages, 0u);
    EXPECT_EQ(network.minima, 1u);
}

TEST(ClockExchange, AfterAnyFailureNobodyHangs) {
    for (const std::uint64_t at : {0, 2, 3, 4, 30, 67, 68, 69}) {
        ClockNetwork network(4);
        network.fails_at = at;
        const Outcome outcome = compare_clocks(network, {1ull << 40, 2ull << 40, 2ull << 40, 3ull << 40}, [](std::uint64_t) { return 0; });
        EXPECT_FALSE(outcome.succeeded[0]) << "operation " << at;
    }
}

} // namespace libprofile

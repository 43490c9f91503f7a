// Steps between pairs of ranks over a fake MPI, which records its calls and completes them or not.
#include "libprofile/output/polled_pairs.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace libprofile {

namespace {

constexpr std::size_t rank_count = 5;

struct Exchange {
    const void* out;
    const int* out_sizes;
    void* in;
    const int* in_sizes;
    const int* offsets;
    std::vector<int> words; // the contents of these buffers at the start

    std::vector<int> words_now() const {
        std::vector<int> result(out_sizes, out_sizes + rank_count);
        result.insert(result.end(), in_sizes, in_sizes + rank_count);
        result.insert(result.end(), offsets, offsets + rank_count);
        return result;
    }
};

struct MadeUpMpi {
    std::vector<Exchange> exchanges;
    bool completes = true;
    int error = 0;
    int suspended_s = 0; // during the first MPI_Test, which finds nothing complete
} mpi;

int start_exchange(const void* out, const int* out_sizes, void* in, const int* in_sizes, const int* offsets) {
    mpi.exchanges.push_back({out, out_sizes, in, in_sizes, offsets, {}});
    mpi.exchanges.back().words = mpi.exchanges.back().words_now();
    return mpi.error;
}

int test(int* done) {
    if (const int s = std::exchange(mpi.suspended_s, 0)) {
        sleep(static_cast<unsigned>(s));
        *done = 0;
        return 0;
    }
    *done = mpi.completes ? 1 : 0;
    return 0;
}

MpiServices services() {
    mpi = {};
    MpiServices result{};
    result.start_exchange = start_exchange;
    result.test = test;
    result.errors_return = result.errors_restore = [] { return 0; };
    return result;
}

struct Steps {
    MpiServices mpi = services();
    PolledCollectives job{mpi, 0}; // does not wait
    PageBudget budget{1u << 20};
    PageArray<int> words{budget};
    PolledPairs make() {
        EXPECT_NE(words.append(PolledPairs::words_per_rank * rank_count), nullptr);
        return {job, words};
    }
};

std::vector<int> words_with(std::size_t index, int value) {
    std::vector<int> result(PolledPairs::words_per_rank * rank_count);
    result[index] = value;
    return result;
}

} // namespace

TEST(PolledPairs, OnlyTheSizeOfThePartnerIsNotZero) {
    Steps steps;
    PolledPairs pairs = steps.make();
    unsigned char bytes[100] = {};
    EXPECT_TRUE(pairs.step(3, bytes, 70, nullptr, 0));
    EXPECT_TRUE(pairs.step(1, nullptr, 0, bytes, 100));
    EXPECT_TRUE(pairs.step(2, nullptr, 0, nullptr, 0));
    ASSERT_EQ(mpi.exchanges.size(), 3u);
    EXPECT_EQ(mpi.exchanges[0].words, words_with(3, 70));
    EXPECT_EQ(mpi.exchanges[0].out, bytes);
    EXPECT_EQ(mpi.exchanges[1].words, words_with(rank_count + 1, 100));
    EXPECT_EQ(mpi.exchanges[1].in, bytes);
    EXPECT_EQ(mpi.exchanges[2].words, words_with(0, 0));
    for (const Exchange& exchange : mpi.exchanges) {
        EXPECT_TRUE(exchange.out != nullptr && exchange.in != nullptr && exchange.out != exchange.in) << "some MPIs check it";
        EXPECT_NE(exchange.out_sizes, exchange.in_sizes);
    }
    EXPECT_FALSE(pairs.step(3, bytes, std::size_t{1} << 31, nullptr, 0)) << "more than MPI can count";
    EXPECT_EQ(mpi.exchanges.size(), 3u);
}

TEST(PolledPairs, AStepThatIsNotOverInTimeIsTheLastAndMpiKeepsItsMemory) {
    for (const bool is_error : {false, true}) {
        unsigned char bytes[10] = {};
        {
            Steps steps;
            PolledPairs pairs = steps.make();
            mpi.completes = false;
            mpi.error = is_error ? 1 : 0;
            EXPECT_FALSE(pairs.step(4, bytes, 10, nullptr, 0));
            mpi.completes = true;
            mpi.error = 0;
            EXPECT_FALSE(pairs.step(4, bytes, 10, nullptr, 0));
            std::uint64_t value = 1;
            EXPECT_FALSE(steps.job.min(&value, 1)) << "all later operations fail, too";
        }
        ASSERT_EQ(mpi.exchanges.size(), 1u);
        EXPECT_EQ(mpi.exchanges[0].words_now(), words_with(4, 10));
    }
}

TEST(PolledPairs, ASuspendedProcessHasNotWaited) {
    Steps steps;
    PolledCollectives patient(steps.mpi, 1);
    ASSERT_NE(steps.words.append(PolledPairs::words_per_rank * rank_count), nullptr);
    PolledPairs pairs(patient, steps.words);
    mpi.suspended_s = 5; // longer than the time limit of a step
    EXPECT_TRUE(pairs.step(1, nullptr, 0, nullptr, 0));
    mpi.completes = false;
    EXPECT_FALSE(pairs.step(1, nullptr, 0, nullptr, 0));
}

} // namespace libprofile

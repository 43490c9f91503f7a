// Counters that are read from files of the kernel.
#include "libprofile/counters/energy_files.hpp"
#include "libprofile/counters/os_counters.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace libprofile {

namespace {

class EnergyFilesTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "/energy.XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void set(int package, std::uint64_t energy, std::uint64_t range = 1000000) {
        const std::filesystem::path place = folder_ / ("intel-rapl:" + std::to_string(package));
        std::filesystem::create_directories(place);
        std::ofstream(place / "energy_uj") << energy << '\n';
        std::ofstream(place / "max_energy_range_uj") << range << '\n';
    }
    std::filesystem::path folder_;
    EnergyFiles files_;
};

} // namespace

TEST_F(EnergyFilesTest, PackagesAreAddedUpAndMayWrapAround) {
    set(0, 5000);
    set(1, 999000);
    ASSERT_TRUE(files_.find(folder_.c_str()));
    EXPECT_EQ(files_.read(), 0u);
    set(0, 5700);
    EXPECT_EQ(files_.read(), 700u);
    set(1, 500); // 1000 to the end of its range, and 500 on
    EXPECT_EQ(files_.read(), 700u + 1500u);
    EXPECT_EQ(files_.read(), 2200u);
}

TEST_F(EnergyFilesTest, WithoutFilesThereIsAReason) {
    EXPECT_FALSE(files_.find(folder_.c_str()));
    EXPECT_STRNE(files_.reason(), "");
    EXPECT_EQ(files_.read(), 0u);
}

TEST(OsCounts, OfTheThreadItselfAndFromOutsideAreTheSame) {
    constexpr std::size_t pages = 300;
    OsCounts before, own, outside;
    read_os_counts(before);
    auto* memory = static_cast<char*>(mmap(nullptr, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
    madvise(memory, pages * 4096, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < pages; ++i) memory[i * 4096] = 1;
    ASSERT_TRUE(read_os_counts_of(gettid(), outside));
    read_os_counts(own);
    munmap(memory, pages * 4096);
    EXPECT_GE(own[OsCounter::PageFaults] - before[OsCounter::PageFaults], pages);
    EXPECT_LE(own[OsCounter::PageFaults] - before[OsCounter::PageFaults], pages + 50);
    EXPECT_NEAR(static_cast<double>(outside.minor_faults), static_cast<double>(own.minor_faults), 20);
    EXPECT_NEAR(static_cast<double>(outside.voluntary_switches), static_cast<double>(own.voluntary_switches), 5);
    EXPECT_NEAR(static_cast<double>(outside.involuntary_switches), static_cast<double>(own.involuntary_switches), 50);
    EXPECT_FALSE(read_os_counts_of(1 << 30, outside)); // no such thread
}

} // namespace libprofile

// The copy of the loader's list, which stands in for _dl_find_object, says the same as that.
#include "libprofile/base/loaded_objects.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <link.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace libprofile {

namespace {

namespace fs = std::filesystem;

class LoadedObjectsTest : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/loaded_objects_test.XXXXXX";
        folder_ = mkdtemp(name);
        ask_copy_of_loader(true);
    }
    void TearDown() override {
        ask_copy_of_loader(false);
        fs::remove_all(folder_);
    }
    void* open_copy(const std::string& name) const {
        fs::copy_file(SMALL_LIBRARY, folder_ / name, fs::copy_options::overwrite_existing);
        void* handle = dlopen((folder_ / name).c_str(), RTLD_NOW | RTLD_LOCAL);
        EXPECT_NE(handle, nullptr) << dlerror();
        return handle;
    }
    static std::uintptr_t code_of(void* handle) { return reinterpret_cast<std::uintptr_t>(dlsym(handle, "small_function")); }
    static bool is_found(std::uintptr_t address) {
        LoadedObject object;
        return find_loaded_object(address, object);
    }
    fs::path folder_;
};

/// Addresses in all objects: the ends of each segment, and just outside.
std::vector<std::uintptr_t> interesting_addresses() {
    std::vector<std::uintptr_t> addresses = {0, 4096, reinterpret_cast<std::uintptr_t>(&addresses), ~std::uintptr_t{0}};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& list = *static_cast<std::vector<std::uintptr_t>*>(data);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& header = info->dlpi_phdr[i];
                if (header.p_type != PT_LOAD) continue;
                const std::uintptr_t start = info->dlpi_addr + header.p_vaddr;
                for (const std::uintptr_t address : {start, start + header.p_memsz / 2, start + header.p_memsz - 1}) list.push_back(address);
            }
            return 0;
        },
        &addresses);
    return addresses;
}

std::atomic<std::uintptr_t> asked_address;
std::atomic<unsigned long> found_in_handler;

void ask(int /*signal*/) {
    LoadedObject object;
    if (find_loaded_object(asked_address, object)) found_in_handler.fetch_add(1);
}

} // namespace

TEST_F(LoadedObjectsTest, TheCopySaysWhatTheLoaderSays) {
    for (const std::uintptr_t address : interesting_addresses()) {
        LoadedObject copied, asked;
        ask_copy_of_loader(true);
        const bool is_copied = find_loaded_object(address, copied);
        ask_copy_of_loader(false);
        ASSERT_EQ(find_loaded_object(address, asked), is_copied) << std::hex << address;
        EXPECT_EQ(copied.map, asked.map) << std::hex << address;
        EXPECT_EQ(copied.unwind_header, asked.unwind_header) << std::hex << address;
        // Of the end the loader tells more: up to where the last segment's page ends, or what it has padded.
        // On AArch64, executables have holes, since they are linked for pages of 64 KiB, and the loader tells of one segment; so it does of itself.
#if defined(__aarch64__)
        EXPECT_LE(copied.start, asked.start);
        EXPECT_LE(asked.start, address);
#else
        EXPECT_EQ(copied.start, asked.start) << (asked.map != nullptr ? asked.map->l_name : "");
#endif
    }
}

TEST_F(LoadedObjectsTest, WhatIsLoadedIsFoundAtOnceAndWhatIsGoneIsNot) {
    for (int i = 0; i < 200; ++i) {
        void* first = open_copy("a.so");
        void* second = open_copy("b.so");
        const std::uintptr_t in_first = code_of(first), in_second = code_of(second);
        EXPECT_TRUE(is_found(in_first));
        EXPECT_TRUE(is_found(in_second));
        dlclose(i % 2 == 0 ? first : second);
        EXPECT_FALSE(is_found(i % 2 == 0 ? in_first : in_second)) << "nobody has told";
        EXPECT_TRUE(is_found(i % 2 == 0 ? in_second : in_first));
        if (i % 3 == 0) refresh_loaded_objects();
        EXPECT_TRUE(is_found(reinterpret_cast<std::uintptr_t>(&dlclose)));
        dlclose(i % 2 == 0 ? second : first);
        EXPECT_FALSE(is_found(in_first));
        EXPECT_FALSE(is_found(in_second));
    }
}

TEST_F(LoadedObjectsTest, WhatStaysIsNotAskedForAndWhatComesLaterIs) {
    loaded_objects_stay();
    void* handle = open_copy("a.so");
    const std::uintptr_t code = code_of(handle);
    EXPECT_TRUE(is_found(code));
    dlclose(handle);
    EXPECT_FALSE(is_found(code));
    EXPECT_TRUE(is_found(reinterpret_cast<std::uintptr_t>(&dlclose)));
}

TEST_F(LoadedObjectsTest, HandlersAndThreadsAskWhileLibrariesComeAndGo) {
    const auto always = reinterpret_cast<std::uintptr_t>(&dlclose);
    asked_address = always;
    struct sigaction action {};
    action.sa_handler = ask;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
    timer_t timer{};
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    const itimerspec often{{0, 50'000}, {0, 50'000}};
    timer_settime(timer, 0, &often, nullptr);
    std::atomic<bool> is_over{false};
    std::atomic<unsigned long> lost{0};
    std::thread other([&] {
        while (!is_over)
            if (!is_found(always)) ++lost;
    });
    for (int i = 0; i < 400; ++i) {
        void* handle = open_copy("a.so");
        asked_address = code_of(handle);
        EXPECT_TRUE(is_found(code_of(handle)));
        asked_address = always;
        dlclose(handle);
        if (i % 2 == 0) refresh_loaded_objects();
    }
    is_over = true;
    other.join();
    timer_delete(timer);
    EXPECT_EQ(lost, 0u);
    EXPECT_GT(found_in_handler, 0u);
}

TEST_F(LoadedObjectsTest, HandlersRunAfterTheLoadersLockIsFree) {
    static volatile sig_atomic_t handled = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { handled = handled + 1; };
    sigaction(SIGUSR2, &action, nullptr);
    int handled_inside = -1;
    visit_loaded_objects(
        [](dl_phdr_info*, std::size_t, void* data) {
            raise(SIGUSR2);
            *static_cast<int*>(data) = handled;
            return 1;
        },
        &handled_inside);
    EXPECT_EQ(handled_inside, 0);
    EXPECT_EQ(handled, 1);
}

} // namespace libprofile

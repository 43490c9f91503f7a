// Libraries that are loaded and unloaded: numbers, names, and the number of comparisons.
#include "libprofile/callpath/load_map.hpp"

#include "libprofile/base/loaded_objects.hpp"

#include "libprofile/callpath/recipe_table.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace libprofile {

namespace {

namespace fs = std::filesystem;

class LoadMapTest : public testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        char name[] = "/tmp/load_map_test.XXXXXX";
        folder_ = mkdtemp(name);
        ask_copy_of_loader(GetParam());
        map_.refresh();
    }
    void TearDown() override {
        ask_copy_of_loader(false);
        fs::remove_all(folder_);
    }

    /// A copy of one of two small libraries.
    fs::path copy(const std::string& name, int which = 0) const {
        fs::copy_file(which == 0 ? SMALL_LIBRARY : OTHER_LIBRARY, folder_ / name, fs::copy_options::overwrite_existing);
        return folder_ / name;
    }
    static void* open(const fs::path& file) {
        void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        EXPECT_NE(handle, nullptr) << dlerror();
        return handle;
    }
    static std::uintptr_t code_of(void* handle) { return reinterpret_cast<std::uintptr_t>(dlsym(handle, "small_function")); }
    /// Like the interposed dlclose. `meanwhile`: what other threads do when the library is gone.
    template <class Meanwhile> void close(void* handle, Meanwhile meanwhile) {
        begin_unloading();
        unsigned long long unloads = 0;
        dlclose(handle);
        meanwhile();
        if (map_.has_unloaded(unloads)) {
            map_.invalidate();
            map_.noticed(unloads);
            map_.mark_stale();
        }
        end_unloading();
    }
    void close(void* handle) {
        close(handle, [] {});
    }
    fs::path folder_;
    LoadMap map_;
};

/// With the C library's own search, and with the copy of the loader's list that older ones need.
INSTANTIATE_TEST_SUITE_P(Both, LoadMapTest, testing::Bool(), [](const auto& chosen) { return std::string(chosen.param ? "Copy" : "Loader"); });

} // namespace

TEST_P(LoadMapTest, ALibraryThatComesBackToItsPlaceHasItsNumberAgain) {
    const fs::path file = copy("a.so");
    std::set<std::pair<std::uintptr_t, std::uint32_t>> found;
    bool is_known_gone = true;
    std::uintptr_t last = 0;
    for (int i = 0; i < 300; ++i) {
        void* handle = open(file);
        const std::uint32_t before = map_.arrivals();
        const bool is_elsewhere = !found.empty() && code_of(handle) != last; // the kernel has chosen another address
        last = code_of(handle);
        found.emplace(last, map_.find(last));
        EXPECT_EQ(map_.arrivals() > before, is_known_gone || is_elsewhere) << "who looks at what came must hear of it";
        if (i % 3 == 0) map_.refresh();
        const std::uint32_t epoch = map_.epoch();
        close(handle);
        EXPECT_NE(map_.epoch(), epoch);
        is_known_gone = i % 2 == 0;
        if (is_known_gone) map_.refresh();
    }
    std::set<std::uintptr_t> places;
    for (const auto& [address, number] : found) places.insert(address);
    EXPECT_EQ(found.size(), places.size()) << "one number for each address";
}

TEST_P(LoadMapTest, AnotherLibraryAtTheSameAddressHasAnotherNumberAndTheOldOneKeepsItsName) {
    void* first = open(copy("a.so"));
    const std::uintptr_t code = code_of(first);
    const std::uint32_t number = map_.find(code);
    close(first);
    void* second = open(copy("b.so"));
    if (code_of(second) != code) GTEST_SKIP() << "the kernel has chosen another address";
    EXPECT_NE(map_.find(code), number);
    EXPECT_EQ(map_[map_.find(code)].path, (folder_ / "b.so").string());
    EXPECT_EQ(map_[number].path, (folder_ / "a.so").string());
    map_.refresh();
    EXPECT_FALSE(map_[number].loaded);
    close(second);
}

TEST_P(LoadMapTest, ALibraryIsItselfBeforeTheOneInItsPlaceIsKnownToBeGone) {
    void* first = open(copy("a.so"));
    const std::uintptr_t code = code_of(first);
    const std::uint32_t number = map_.find(code);
    EXPECT_EQ(map_.find(code), number);
    void* second = nullptr;
    close(first, [&] {
        second = open(copy("b.so"));
        if (code_of(second) != code) return;
        for (int i = 0; i < 3; ++i) EXPECT_EQ(map_[map_.find(code)].path, (folder_ / "b.so").string());
    });
    if (code_of(second) != code) GTEST_SKIP() << "the kernel has chosen another address";
    EXPECT_EQ(map_[map_.find(code)].path, (folder_ / "b.so").string());
    close(second);
}

TEST_P(LoadMapTest, AnAddressThatWasInNoLibraryIsLookedUpAgain) {
    RecipeTable recipes; // its memory is never returned
    void* first = open(copy("a.so"));
    const std::uintptr_t code = code_of(first) + 1;
    const Recipe recipe = recipes.find(code, map_.epoch());
    EXPECT_NE(recipe.kind, RecipeKind::Missing);
    close(first);
    EXPECT_EQ(recipes.find(code, map_.epoch()).kind, RecipeKind::Missing);
    void* second = open(copy("a.so"));
    if (code_of(second) + 1 != code) GTEST_SKIP() << "the kernel has chosen another address";
    EXPECT_EQ(recipes.find(code, map_.epoch()).kind, recipe.kind);
    close(second);
}

TEST_P(LoadMapTest, AFileThatWasCompiledAgainIsAnotherLibraryAfterRefresh) {
    void* first = open(copy("a.so"));
    const std::uint32_t number = map_.find(code_of(first));
    close(first);
    fs::remove(folder_ / "a.so");
    void* second = open(copy("a.so", 1));
    map_.refresh();
    const std::uint32_t other = map_.find(code_of(second));
    EXPECT_NE(other, number);
    EXPECT_NE(map_[other].hash, map_[number].hash);
    close(second);
}

TEST_P(LoadMapTest, WhatIsGoneIsNotShownToTheUnwinder) {
    const auto is_shown = [&](const char* name) {
        struct Wanted {
            const char* name;
            bool found = false;
        } wanted{name};
        map_.iterate(
            [](dl_phdr_info* info, std::size_t, void* data) {
                auto* what = static_cast<Wanted*>(data);
                what->found = what->found || std::string(info->dlpi_name).ends_with(what->name);
                return 0;
            },
            &wanted);
        return wanted.found;
    };
    void* handle = open(copy("a.so"));
    map_.refresh();
    EXPECT_TRUE(is_shown("/a.so"));
    close(handle);
    EXPECT_FALSE(is_shown("/a.so")) << "before anybody has looked";
    map_.refresh();
    EXPECT_FALSE(is_shown("/a.so"));
}

TEST_P(LoadMapTest, ManyLibrariesAreLookedAtOnceEachTimeTheLoaderHasChanged) {
    constexpr unsigned many = 300;
    std::vector<void*> handles;
    for (unsigned i = 0; i < many; ++i) handles.push_back(open(copy("many." + std::to_string(i) + ".so")));
    map_.refresh();
    const std::uint64_t begin = map_.comparisons();
    for (int i = 0; i < 1000; ++i) map_.refresh();
    EXPECT_EQ(map_.comparisons(), begin) << "nothing has changed";
    for (void* handle : handles) map_.find(code_of(handle));
    for (void* handle : handles) map_.find(code_of(handle));
    EXPECT_LT(map_.comparisons() - begin, 2 * many * 4) << "a hash finds them";
    const std::uint64_t closing = map_.comparisons();
    for (void* handle : handles) close(handle);
    EXPECT_EQ(map_.comparisons(), closing) << "dlclose looks at none";
    map_.refresh();
    EXPECT_LT(map_.comparisons() - closing, 8 * (many + map_.size())) << "once";
}

TEST_P(LoadMapTest, EachLibraryThatComesIsSeenByAQuestionForNewOnes) {
    for (int i = 0; i < 3; ++i) {
        const std::uint32_t before = map_.arrivals();
        map_.refresh_if_new();
        EXPECT_EQ(map_.arrivals(), before);
        void* first = open(copy("first.so"));
        map_.refresh_if_new();
        EXPECT_EQ(map_.arrivals(), before + 1);
        void* second = open(copy("second.so", 1));
        close(first); // no longer the library before the last one
        map_.refresh_if_new();
        EXPECT_EQ(map_.arrivals(), before + 2);
        close(second);
        map_.refresh_if_new();
    }
}

} // namespace libprofile

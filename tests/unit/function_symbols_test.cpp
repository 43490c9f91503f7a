// The functions that files name: of this program, of a library, of damaged copies of it.
#include "libprofile/callpath/function_symbols.hpp"
#include "libprofile/callpath/load_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <random>
#include <string>
#include <unistd.h>

using namespace libprofile;

namespace {

[[gnu::noipa]] int function_with_a_name_of_its_own(int x) { return x + 1; }

std::string own_library() { // a small one that is installed everywhere
    Dl_info info{};
    double (*const function)(double) = std::cos;
    return dladdr(reinterpret_cast<void*>(function), &info) == 0 ? "" : info.dli_fname;
}

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t functions_in(const std::string& path) {
    Module module;
    module.path = path.c_str();
    FunctionSymbols symbols(module);
    std::size_t count = 0;
    for (FunctionSymbol symbol; symbols.next(symbol); ++count) EXPECT_LT(std::strlen(symbol.name), 1u << 20);
    EXPECT_FALSE(symbols.lacks_memory());
    return count;
}

struct DamagedFile : testing::Test {
    std::string path = testing::TempDir() + "damaged.XXXXXX";
    std::string whole = bytes_of(own_library());
    void SetUp() override { close(mkstemp(path.data())); }
    void TearDown() override { std::remove(path.c_str()); }
    void write(const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
};

} // namespace

TEST(FunctionSymbolsTest, FunctionsOfTheProgramHaveTheirPlaces) {
    ASSERT_EQ(function_with_a_name_of_its_own(1), 2);
    std::uintptr_t bias = 0;
    dl_iterate_phdr([](dl_phdr_info* info, std::size_t, void* data) { return *static_cast<std::uintptr_t*>(data) = info->dlpi_addr, 1; }, &bias);
    Module module;
    module.is_executable = true;
    module.path = "/this/file/is/not/there";
    FunctionSymbols symbols(module);
    EXPECT_TRUE(symbols.has_all());
    unsigned found = 0;
    for (FunctionSymbol symbol; symbols.next(symbol);) {
        if (std::strstr(symbol.name, "function_with_a_name_of_its_own") == nullptr) continue;
        ++found;
        EXPECT_EQ(bias + symbol.value, reinterpret_cast<std::uintptr_t>(&function_with_a_name_of_its_own));
        EXPECT_GT(symbol.size, 0u);
    }
    EXPECT_EQ(found, 1u);
    EXPECT_FALSE(symbols.lacks_memory());
}

TEST(FunctionSymbolsTest, WhatThereIsNoMemoryForIsSaid) {
    const std::uint64_t limit = memory_quota.limit();
    Module module;
    module.is_executable = true;
    FunctionSymbols symbols(module);
    memory_quota.limit(memory_quota.used() + 4096);
    FunctionSymbol symbol;
    EXPECT_FALSE(symbols.next(symbol));
    EXPECT_FALSE(symbols.next(symbol));
    EXPECT_TRUE(symbols.lacks_memory());
    memory_quota.limit(limit);
}

TEST_F(DamagedFile, OfOneThatEndsEarlyNoneAreTold) {
    ASSERT_GT(functions_in(own_library()), 100u);
    for (const std::size_t part : {0, 1, 10, 50, 90, 99}) {
        write(whole.substr(0, whole.size() * part / 100));
        EXPECT_EQ(functions_in(path), 0u) << part << " %";
    }
}

TEST_F(DamagedFile, OneWithWrongBytesInItsHeadersIsRead) {
    std::mt19937 random(1);
    const std::uint64_t memory = memory_quota.used();
    ElfW(Ehdr) header;
    ASSERT_GT(whole.size(), sizeof header);
    std::memcpy(&header, whole.data(), sizeof header);
    for (int round = 0; round < 100; ++round) {
        std::string bytes = whole;
        for (int i = 0; i < 20; ++i) bytes[header.e_shoff + random() % (header.e_shnum * sizeof(ElfW(Shdr)))] = static_cast<char>(random());
        write(bytes);
        functions_in(path); // must survive any content
    }
    EXPECT_EQ(memory_quota.used(), memory);
}

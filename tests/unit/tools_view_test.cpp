// What the page of `libprofile view` is made of: columns of numbers, levels of a value map, spreads over ranks.
#include "tools/view/cell_columns.hpp"
#include "tools/view/encoding.hpp"
#include "tools/view/page.hpp"
#include "tools/view/value_map.hpp"
#include "tools_profile_builder.hpp"

#include "tools/reader/reader.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

namespace libprofile::tools {

namespace {

ByteList inflated(const ByteList& bytes, std::size_t size) {
    ByteList out(size);
    uLongf length = size;
    EXPECT_EQ(uncompress(out.data(), &length, bytes.data(), bytes.size()), Z_OK);
    EXPECT_EQ(length, size);
    return out;
}

std::vector<std::uint64_t> numbers(const ByteList& bytes) {
    std::vector<std::uint64_t> out;
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const unsigned char byte : bytes) {
        value |= std::uint64_t{byte & 127u} << shift;
        shift += 7;
        if (byte < 128) {
            out.push_back(value);
            value = 0;
            shift = 0;
        }
    }
    return out;
}

std::vector<std::uint64_t> running_sums(const ByteList& bytes) {
    std::vector<std::uint64_t> out;
    std::uint64_t before = 0;
    for (const std::uint64_t v : numbers(bytes)) out.push_back(before += (v >> 1) ^ (~(v & 1) + 1));
    return out;
}

/// Every value lies between the bounds of its level.
void expect_levels_hold_their_values(const std::vector<std::uint64_t>& values, std::size_t iterations, const QuantizedMap& map) {
    const ByteList deltas = inflated(map.deltas, values.size());
    unsigned level = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % iterations == 0) level = 0;
        level = (level + deltas[i]) & 255;
        if (values[i] == no_value) {
            EXPECT_EQ(level, 0u) << i;
            continue;
        }
        ASSERT_GE(level, 1u) << i;
        ASSERT_LT(level, map.bounds.size()) << i;
        const auto v = static_cast<double>(values[i]);
        EXPECT_GE(v, map.bounds[level - 1] * (1 - 1e-9) - 1e-6) << i;
        EXPECT_LE(v, map.bounds[level] * (1 + 1e-9) + 1e-6) << i;
    }
}

Profile sample_profile(std::uint32_t ranks) {
    const auto folder = std::filesystem::temp_directory_path() / ("libprofile-view-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const test::ByteVector bytes = test::sample_file(ranks, true);
    std::ofstream(folder / "profile.lprof", std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    Profile profile = read_profile(folder);
    std::filesystem::remove_all(folder);
    return profile;
}

} // namespace

TEST(ViewEncoding, Base64IsThatOfRfc4648) {
    const auto of = [](const std::string& text) { return base64(ByteList(text.begin(), text.end())); };
    EXPECT_EQ(of(""), "");
    EXPECT_EQ(of("f"), "Zg==");
    EXPECT_EQ(of("fo"), "Zm8=");
    EXPECT_EQ(of("foo"), "Zm9v");
    EXPECT_EQ(of("foobar"), "Zm9vYmFy");
}

TEST(ViewEncoding, NumbersComeBackFromTheirColumn) {
    NumberColumn column;
    const std::vector<std::uint64_t> list = {0, 1, 127, 128, 16383, 16384, std::uint64_t{1} << 53, ~std::uint64_t{0}};
    for (const std::uint64_t v : list) column.add(v);
    EXPECT_EQ(numbers(inflated(deflated(column.bytes()), column.bytes().size())), list);
}

TEST(ViewEncoding, RoundedCellsAreOffByAFewTenThousandthsAtMost) {
    CellTables places{{0, 1}, {0, 1}, 2};
    CellColumns exact(places, false), rounded(places, true);
    const std::vector<Cell> cells = {{0, 0, 1234567891}, {0, 1, 4095}, {1, 0, ~std::uint64_t{0}}};
    for (CellColumns* columns : {&exact, &rounded}) {
        columns->add(cells);
        columns->end();
    }
    EXPECT_EQ(numbers(exact.mantissas().bytes()), (std::vector<std::uint64_t>{1234567891, 4095, ~std::uint64_t{0}}));
    EXPECT_EQ(numbers(exact.keys().bytes()), (std::vector<std::uint64_t>{0, 1, 1}));
    const auto mantissas = numbers(rounded.mantissas().bytes()), exponents = numbers(rounded.exponents().bytes());
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const double value = std::ldexp(static_cast<double>(mantissas[i]), static_cast<int>(exponents[i]));
        EXPECT_NEAR(value / static_cast<double>(cells[i].value), 1, 1.0 / 4096) << i;
    }
}

TEST(ViewMap, LevelsHoldTheirValues) {
    std::vector<std::uint64_t> values;
    std::uint64_t state = 1;
    for (std::size_t i = 0; i < 5000; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        values.push_back(1000000 + (state >> 40) % 50000 + (i % 100 == 0 ? 90000000 : 0));
        if (i % 77 == 0) values.back() = no_value;
    }
    for (const std::size_t most : {std::size_t{1000000}, std::size_t{3000}, std::size_t{0}}) {
        const QuantizedMap map = quantize(values, 500, most);
        expect_levels_hold_their_values(values, 500, map);
        EXPECT_GE(map.bounds.size(), 15u);
        EXPECT_EQ(map.bounds.front(), static_cast<double>(*std::min_element(values.begin(), values.end())));
    }
}

TEST(ViewMap, FewDifferentValuesHaveALevelEach) {
    const std::vector<std::uint64_t> values = {3, 4, 5, 3, 9, no_value};
    const QuantizedMap map = quantize(values, 3, 1000);
    expect_levels_hold_their_values(values, 3, map);
    EXPECT_EQ(map.bounds.size(), 8u);
}

TEST(ViewMap, NothingAndOneValueAreMapsToo) {
    const std::vector<std::uint64_t> nothing(6, no_value), same(6, 42);
    expect_levels_hold_their_values(nothing, 3, quantize(nothing, 3, 1000));
    expect_levels_hold_their_values(same, 3, quantize(same, 3, 1000));
    EXPECT_EQ(quantize({}, 0, 1000).bounds.size(), 2u);
}

TEST(ViewMap, SpreadsAreThoseOfTheRanksWithAValue) {
    // Three ranks, two iterations; one has no second iteration.
    const MapSpread spread = spread_over_ranks({5, 8, 1, no_value, 9, 4}, 2);
    EXPECT_EQ(running_sums(spread.minimum.bytes()), (std::vector<std::uint64_t>{1, 4}));
    EXPECT_EQ(running_sums(spread.twice_median.bytes()), (std::vector<std::uint64_t>{10, 12}));
    EXPECT_EQ(running_sums(spread.maximum.bytes()), (std::vector<std::uint64_t>{9, 8}));
    EXPECT_EQ(running_sums(spread.sum.bytes()), (std::vector<std::uint64_t>{15, 12}));
    EXPECT_EQ(numbers(spread.slowest.bytes()), (std::vector<std::uint64_t>{2, 0}));
    EXPECT_EQ(numbers(spread.ranks.bytes()), (std::vector<std::uint64_t>{3, 2}));
}

TEST(ViewPage, IsOneFileWithTheViewerAndTheData) {
    const std::string text = page(sample_profile(3));
    EXPECT_EQ(text.compare(0, 15, "<!doctype html>"), 0);
    EXPECT_NE(text.find("id=\"header\""), std::string::npos);
    EXPECT_EQ(text.find("<!--libprofile:data-->"), std::string::npos);
    EXPECT_EQ(text.find("src=\""), std::string::npos) << "something is loaded";
}

TEST(ViewPage, AMetricThatIsNotThereIsNamedWithThoseThatAre) {
    PageRequest request;
    request.metrics = {"nonsense"};
    try {
        page(sample_profile(2), request);
        FAIL() << "no error";
    } catch (const ViewError& error) {
        EXPECT_NE(std::string(error.what()).find("iteration_time"), std::string::npos);
    }
}

} // namespace libprofile::tools

// Columns of a page, decoded as its script does.
// Contract: for tests; one thread; allocates freely.
#pragma once

#include "tools/view/sections.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>
#include <zlib.h>

namespace libprofile::test {

/// The numbers of a column in the page.
inline std::vector<std::uint64_t> timeline_column(const tools::Sections& sections, const nlohmann::ordered_json& number) {
    const std::string& text = sections.list().at(number.get<std::size_t>() - sections.first());
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    tools::ByteList packed, bytes(1'000'000);
    for (std::size_t i = 0; i + 3 < text.size(); i += 4) {
        std::uint32_t four = 0;
        for (std::size_t k = 0; k < 4; ++k) four = four << 6 | (text[i + k] == '=' ? 0 : static_cast<std::uint32_t>(digits.find(text[i + k])));
        for (std::size_t k = 0; k < 3 && text[i + k + 1] != '='; ++k) packed.push_back(static_cast<unsigned char>(four >> (16 - 8 * k)));
    }
    uLongf size = bytes.size();
    EXPECT_EQ(uncompress(bytes.data(), &size, packed.data(), packed.size()), Z_OK);
    std::vector<std::uint64_t> list;
    for (std::size_t i = 0, shift = 0; i < size; ++i) {
        if (shift == 0) list.push_back(0);
        list.back() |= std::uint64_t{bytes[i] & 127u} << shift;
        shift = bytes[i] < 128 ? 0 : shift + 7;
    }
    return list;
}

inline std::int64_t unzigzag(std::uint64_t coded) { return static_cast<std::int64_t>(coded >> 1) ^ -static_cast<std::int64_t>(coded & 1); }

} // namespace libprofile::test

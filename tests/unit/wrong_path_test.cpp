#include "libprofile/callpath/wrong_path.hpp"

#include "libprofile/callpath/load_map.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace libprofile {

TEST(WrongPath, TellsWhereTheFirstOneLeavesTheRightOne) {
    load_map.refresh();
    WrongPath path;
    char text[500] = "?";
    path.describe(text, sizeof text);
    EXPECT_STREQ(text, "");
    path.note(false, 2, WrongPath::frame_at(reinterpret_cast<std::uintptr_t>(&::ldiv), 0x7ff0), {});
    path.note(true, 9, {}, {});
    path.describe(text, sizeof text);
    const std::string said = text;
    EXPECT_TRUE(said.starts_with("; the first was that of a sample: 2 frames from the inside it had libc")) << said;
    EXPECT_TRUE(said.ends_with(" at 0x7ff0 instead of nothing")) << said;
}

TEST(WrongPath, CutsNothingWhereItIsWritten) {
    WrongPath path;
    path.note(true, 0, WrongPath::frame_at(8, 0), WrongPath::frame_at(~std::uintptr_t{0}, ~std::uintptr_t{0}));
    char text[500];
    path.describe(text, sizeof text);
    EXPECT_STREQ(text, "; the first was that of a call: 0 frames from the inside it had +0x8 instead of +0xffffffffffffffff at 0xffffffffffffffff");
}

} // namespace libprofile

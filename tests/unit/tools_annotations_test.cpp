// Annotations beside a profile: what is written is read again, and what somebody else wrote cannot do harm.
#include "tools/view/annotations.hpp"
#include "tools/view/page_request.hpp"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

namespace fs = std::filesystem;

class Annotations : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "annotations-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder = pattern;
        name = folder / "annotations.json";
    }
    void TearDown() override { fs::remove_all(folder); }

    void write(const std::string& text) const { std::ofstream(name, std::ios::binary) << text; }
    std::string text() const {
        std::stringstream all;
        all << std::ifstream(name, std::ios::binary).rdbuf();
        return all.str();
    }
    /// Why it cannot be read; empty if it can.
    std::string refused() const {
        try {
            AnnotationFile(folder).read();
            return "";
        } catch (const ViewError& error) {
            return error.what();
        }
    }

    fs::path folder, name;
};

Annotation annotation(const std::string& id, const std::string& text) {
    Annotation one;
    one.id = id;
    one.ns = 12345;
    one.text = text;
    return one;
}

} // namespace

TEST_F(Annotations, WhatIsWrittenIsReadAgain) {
    const AnnotationFile file(folder);
    EXPECT_TRUE(file.read().empty());
    Annotation one = annotation("a1", "\"quoted\" </script> \x01 \u00fc \U0001F600\nline");
    one.is_of_all = false;
    one.rank = 3;
    one.thread = 2;
    file.put(one);
    file.put(annotation("b2", ""));
    std::vector<Annotation> list = file.read();
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].text, one.text);
    EXPECT_EQ(list[0].ns, 12345u);
    EXPECT_FALSE(list[0].is_of_all);
    EXPECT_EQ(list[0].rank, 3u);
    EXPECT_EQ(list[0].thread, 2u);
    EXPECT_TRUE(list[1].is_of_all);
    one.text = "other";
    EXPECT_EQ(file.put(one).size(), 2u);
    EXPECT_EQ(file.read()[0].text, "other");
    EXPECT_EQ(file.remove("a1").size(), 1u);
    EXPECT_EQ(file.remove("unknown").size(), 1u);
    EXPECT_EQ(file.read()[0].id, "b2");
    // Nothing else stays in the folder.
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

TEST_F(Annotations, ThoseOfAFileLieBesideIt) {
    std::ofstream(folder / "p.lprof") << "x";
    AnnotationFile(folder / "p.lprof").put(annotation("a", "text"));
    EXPECT_TRUE(fs::exists(folder / "p.lprof.annotations.json"));
    EXPECT_EQ(AnnotationFile(folder / "p.lprof").read().size(), 1u);
}

TEST_F(Annotations, AHostileFileIsAnErrorAndStaysAsItIs) {
    const auto entry = [](const std::string& fields) { return "{\"annotations\": [{" + fields + "}]}"; };
    std::string many = "{\"annotations\": [", deep(500'000, '[');
    for (int i = 0; i < 2001; ++i) many += (i != 0 ? "," : "") + ("{\"id\": \"i" + std::to_string(i)) + "\", \"ns\": 1, \"text\": \"\"}";
    many += "]}";
    for (const std::string& hostile : {std::string(),
                                       std::string("null"),
                                       std::string("[]"),
                                       std::string("{\"annotations\": 7}"),
                                       std::string("{\"annotations\": [7]}"),
                                       std::string("{\"annotations\": ["),
                                       deep,
                                       "{\"annotations\": " + deep,
                                       std::string("{\"annotations\": [\"\xff\"]}"),
                                       entry("\"id\": \"\", \"ns\": 1, \"text\": \"\""),
                                       entry("\"id\": \"a b\", \"ns\": 1, \"text\": \"\""),
                                       entry("\"id\": \"a\", \"ns\": -1, \"text\": \"\""),
                                       entry("\"id\": \"a\", \"ns\": 1e300, \"text\": \"\""),
                                       entry("\"id\": \"a\", \"ns\": 99999999999999999999, \"text\": \"\""),
                                       entry("\"id\": \"a\", \"ns\": 9007199254740992, \"text\": \"\""),
                                       entry("\"id\": \"a\", \"ns\": \"1\", \"text\": \"\""),
                                       entry("\"id\": \"a\", \"ns\": 1"),
                                       entry("\"id\": \"a\", \"ns\": 1, \"text\": [[]]"),
                                       entry("\"id\": \"a\", \"ns\": 1, \"rank\": 5000000000, \"text\": \"\""),
                                       entry("\"id\": \"a\", \"ns\": 1, \"rank\": null, \"text\": \"\""),
                                       entry("\"id\": \"a\", \"ns\": 1, \"text\": \"" + std::string(501, 'x') + "\""),
                                       entry("\"id\": \"a\", \"ns\": 1, \"text\": \"\"}, {\"id\": \"a\", \"ns\": 1, \"text\": \"\""),
                                       many,
                                       std::string((std::size_t{1} << 20) + 1, ' ')}) {
        write(hostile);
        EXPECT_NE(refused(), "") << hostile.substr(0, 100);
        EXPECT_THROW(AnnotationFile(folder).put(annotation("a", "")), ViewError) << hostile.substr(0, 100);
        EXPECT_EQ(text(), hostile);
        EXPECT_NE(annotations_entry(folder.string())["problem"], "");
        EXPECT_TRUE(annotations_entry(folder.string())["list"].empty());
    }
    write(entry("\"id\": \"a\", \"ns\": 1, \"more\": {\"x\": [1]}, \"text\": \"\u00fc" + std::string(499, 'x') + "\""));
    EXPECT_EQ(refused(), "") << "500 characters are allowed, and fields that are not known";
}

TEST_F(Annotations, AChangedFileIsReadOrRefused) {
    const AnnotationFile file(folder);
    Annotation one = annotation("a1", "text \u00fc \\ \"");
    one.is_of_all = false;
    file.put(one);
    file.put(annotation("b2", "other"));
    const std::string whole = text();
    const std::string bytes = "{}[]\",:0-9e.\\u \xff\xc3";
    std::uint64_t random = 1;
    const auto next = [&](std::size_t end) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>((random >> 33) % end);
    };
    int read = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string changed = whole;
        for (std::size_t changes = 1 + next(3); changes > 0; --changes) {
            const std::size_t at = next(changed.size());
            if (next(2) == 0)
                changed[at] = bytes[next(bytes.size())];
            else
                changed.erase(at, 1 + next(8));
        }
        write(changed);
        try {
            for (const Annotation& each : file.read()) {
                EXPECT_LE(each.ns, Annotation::last_ns);
                EXPECT_FALSE(each.id.empty());
            }
            ++read;
        } catch (const ViewError&) {
        }
    }
    EXPECT_GT(read, 50);
    EXPECT_LT(read, 2950);
}

TEST_F(Annotations, LinksAndPipesAreNotOpened) {
    std::ofstream(folder / "secret") << "{\"annotations\": []}";
    fs::create_symlink(folder / "secret", name);
    EXPECT_NE(refused().find("link"), std::string::npos) << refused();
    fs::remove(name);
    ASSERT_EQ(::mkfifo(name.c_str(), 0600), 0);
    EXPECT_NE(refused(), "");
    fs::remove(name);
    fs::create_directory(name);
    EXPECT_NE(refused(), "");
}

TEST_F(Annotations, AFolderThatCannotBeWrittenIsSaid) {
    const auto why = [](const AnnotationFile& file) {
        try {
            file.put(annotation("a", ""));
            return std::string();
        } catch (const ViewError& error) {
            return std::string(error.what());
        }
    };
    EXPECT_NE(why(AnnotationFile("/proc")).find("cannot write /proc/annotations.json: "), std::string::npos) << why(AnnotationFile("/proc"));
    if (::geteuid() == 0) return; // may write everywhere
    fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_NE(why(AnnotationFile(folder)).find("Permission denied"), std::string::npos);
    fs::permissions(folder, fs::perms::owner_all);
}

TEST_F(Annotations, ThereAreNotMoreThanMayBe) {
    const AnnotationFile file(folder);
    std::string many = "{\"annotations\": [";
    for (int i = 0; i < 2000; ++i) many += (i != 0 ? "," : "") + ("{\"id\": \"i" + std::to_string(i)) + "\", \"ns\": 1, \"text\": \"\"}";
    write(many + "]}");
    EXPECT_EQ(file.read().size(), 2000u);
    EXPECT_THROW(file.put(annotation("new", "")), ViewError);
    EXPECT_EQ(file.put(annotation("i7", "changed")).size(), 2000u);
}

} // namespace libprofile::tools

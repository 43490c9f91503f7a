#include "libprofile/callpath/python_frames.hpp"

#include "libprofile/callpath/python_names.hpp"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace libprofile {

namespace {

constexpr std::uintptr_t unmapped = 0x10000; // below vm.mmap_min_addr: no process has memory there
const PythonLayout& layout = python_3_11;

/// Objects of CPython 3.11 in this process's memory.
class Object {
  public:
    explicit Object(std::size_t bytes) : words_((bytes + 7) / 8) {}
    template <class T> Object& set(std::uint32_t offset, T value) {
        std::memcpy(reinterpret_cast<unsigned char*>(words_.data()) + offset, &value, sizeof value);
        return *this;
    }
    std::uintptr_t at() const { return reinterpret_cast<std::uintptr_t>(words_.data()); }

  private:
    std::vector<std::uint64_t> words_;
};

class PythonFramesTest : public testing::Test {
  protected:
    static constexpr std::uintptr_t code_type = 0x1110, text_type = 0x2220, bytes_type = 0x3330;

    void SetUp() override {
        python_process.fabricate(layout, code_type, text_type, bytes_type);
        stack_.assign(64, 0);
        state_.set(layout.native_frame, activation_at(0));
        // The outermost activation leads to the part of the state that is no activation.
        root_object_ = std::make_unique<Object>(24);
        root_ = root_object_->at();
    }
    void TearDown() override { python_process.forget(); }

    /// Activations are on the stack, from the inside outwards.
    std::uintptr_t activation_at(std::size_t number) const { return reinterpret_cast<std::uintptr_t>(stack_.data() + number * 4); }
    void activation(std::size_t number, std::uintptr_t innermost, bool is_outermost) {
        stack_[number * 4 + 1] = innermost;
        stack_[number * 4 + 2] = is_outermost ? root_ : activation_at(number + 1);
    }
    Object& object(std::size_t bytes) { return *objects_.emplace_back(std::make_unique<Object>(bytes)); }
    std::uintptr_t text(const std::string& content) {
        Object& made = object(layout.text_ascii + content.size() + 1);
        made.set(layout.object_type, text_type).set<std::int64_t>(layout.text_length, static_cast<std::int64_t>(content.size()));
        made.set<std::uint32_t>(layout.text_state, 1u << 2 | 1u << 5 | 1u << 6 | 1u << 7);
        for (std::size_t i = 0; i < content.size(); ++i) made.set(layout.text_ascii + static_cast<std::uint32_t>(i), content[i]);
        return made.at();
    }
    /// One instruction a line, from `line` on.
    Object& code(const std::string& name, std::int32_t line) {
        Object& lines = object(layout.bytes_begin + 32);
        lines.set(layout.object_type, bytes_type).set<std::int64_t>(layout.object_size, 20);
        for (std::uint32_t i = 0; i < 10; ++i) { // kind 13: the line's change as a signed number, no columns
            lines.set<std::uint8_t>(layout.bytes_begin + 2 * i, 0x80 | 13 << 3);
            lines.set<std::uint8_t>(layout.bytes_begin + 2 * i + 1, i == 0 ? 0 : 2);
        }
        Object& made = object(layout.code_begin + 64);
        made.set<std::int64_t>(0, 1).set(layout.object_type, code_type).set(layout.code_line, line);
        made.set(layout.code_file, text("script.py")).set(layout.code_name, text(name)).set(layout.code_lines, lines.at());
        return made;
    }
    Object& frame(const Object& code, std::uint32_t instruction, std::uintptr_t outer, bool is_entry) {
        Object& made = object(PythonLayout::frame_bytes);
        made.set(layout.frame_code, code.at()).set(layout.frame_outer, outer);
        made.set(layout.frame_instruction, code.at() + layout.code_begin + instruction * 2).set<std::uint8_t>(layout.frame_is_entry, is_entry ? 1 : 0);
        return made;
    }
    PythonFrames::Change look(bool has_returned = false) {
        const auto base = reinterpret_cast<std::uintptr_t>(stack_.data() + stack_.size());
        frames_.look(state_.at(), activation_at(0), base, false);
        return frames_.since_look(has_returned ? PythonFrames::Stretch{activation_at(0), activation_at(1)} : PythonFrames::Stretch());
    }
    /// Instructions by opcode and argument, two bytes each.
    static void instructions(Object& code, const std::vector<std::pair<int, int>>& units) {
        code.set<std::int64_t>(layout.object_size, static_cast<std::int64_t>(units.size()));
        for (std::uint32_t i = 0; i < units.size(); ++i)
            code.set(layout.code_begin + 2 * i, static_cast<std::uint8_t>(units[i].first))
                .set(layout.code_begin + 2 * i + 1, static_cast<std::uint8_t>(units[i].second));
    }
    /// "outer:3 inner:5", of an activation, counted from the outermost.
    std::string names(std::uint32_t number) const {
        std::string result;
        const PythonFrames::Activation& activation = frames_[number];
        for (std::uint32_t i = activation.count; i-- > 0;) {
            const PythonCodes::Place& place = frames_.entry(activation.first + i).place;
            for (std::uint32_t n = 0; n < python_names.size(); ++n)
                if (python_names[n].id == place.function)
                    result += (result.empty() ? "" : " ") + std::string(python_names[n].text, std::strcspn(python_names[n].text, "\n")) + ":" +
                              std::to_string(place.line);
        }
        return result;
    }

    Object state_{256};
    std::unique_ptr<Object> root_object_;
    std::uintptr_t root_ = 0;
    std::vector<std::uintptr_t> stack_;
    std::vector<std::unique_ptr<Object>> objects_;
    PythonFrames frames_;
};

} // namespace

TEST_F(PythonFramesTest, frames_belong_to_the_activation_that_runs_them) {
    const Object& main = frame(code("main", 10), 2, 0, true);
    const Object& step = frame(code("Solver.step", 20), 3, main.at(), false);
    const Object& callback = frame(code("callback", 40), 0, step.at(), true);
    activation(0, callback.at(), false);
    activation(1, step.at(), true);
    look();
    ASSERT_EQ(frames_.size(), 2u);
    EXPECT_EQ(names(0), "main:12 Solver.step:23");
    EXPECT_EQ(names(1), "callback:40");
    EXPECT_FALSE(look().is_any);
}

TEST_F(PythonFramesTest, a_change_tells_which_frames_stand) {
    const Object& main_code = code("main", 10);
    Object& main = frame(main_code, 2, 0, true);
    const Object& step = frame(code("step", 20), 3, main.at(), false);
    activation(0, step.at(), true);
    look();
    main.set(layout.frame_instruction, main_code.at() + layout.code_begin + 8);
    const PythonFrames::Change change = look();
    EXPECT_TRUE(change.is_any);
    EXPECT_EQ(change.outside, 0u);
    EXPECT_EQ(change.entries, 1u); // main stands, what it called may be another call
    EXPECT_EQ(names(0), "main:14 step:23");
}

TEST_F(PythonFramesTest, a_function_that_comes_to_an_earlier_line_without_a_loop_was_called_again) {
    constexpr int nop = 9, call = 171, jump_backward = 140; // a call has four units of caches
    Object &straight = code("straight", 20), &looping = code("looping", 40), &main_code = code("main", 10);
    instructions(main_code, {{nop, 0}, {nop, 0}, {nop, 0}, {jump_backward, 3}});
    instructions(straight, {{nop, 0}, {call, 0}, {jump_backward, 1}, {0, 0}, {0, 0}, {0, 0}, {nop, 0}, {nop, 0}}); // what looks like a jump is a cache
    instructions(looping, {{nop, 0}, {nop, 0}, {nop, 0}, {jump_backward, 3}, {nop, 0}, {nop, 0}});
    const Object& main = frame(main_code, 1, 0, true);
    const auto at = [&](Object& frame, const Object& code, std::uint32_t instruction) {
        frame.set(layout.frame_instruction, code.at() + layout.code_begin + instruction * 2);
    };
    Object& step = frame(straight, 1, main.at(), false);
    activation(0, step.at(), true);
    look();
    at(step, straight, 6);
    EXPECT_EQ(look().entries, 2u); // it went on
    at(step, straight, 1);
    EXPECT_EQ(look().entries, 1u);
    EXPECT_FALSE(look().is_any);
    EXPECT_EQ(look(true).entries, 1u); // back from what it called, at the same call
    Object& solve = frame(looping, 2, main.at(), false);
    activation(0, solve.at(), true);
    look();
    at(solve, looping, 1);
    EXPECT_EQ(look().entries, 2u);
    EXPECT_EQ(look(true).entries, 2u);
    at(solve, looping, 4);
    EXPECT_EQ(look().entries, 2u);
    at(solve, looping, 2);
    EXPECT_EQ(look().entries, 1u); // it had left its loop
}

TEST_F(PythonFramesTest, where_no_caller_can_have_gone_on_all_of_them_were_called_again) {
    constexpr int nop = 9, jump_backward = 140;
    Object &main_code = code("main", 10), &middle_code = code("middle", 20), &leaf_code = code("leaf", 30);
    instructions(main_code, {{nop, 0}, {nop, 0}, {nop, 0}, {jump_backward, 3}});
    for (Object* straight : {&middle_code, &leaf_code}) instructions(*straight, {{nop, 0}, {nop, 0}, {nop, 0}, {nop, 0}});
    const Object& main = frame(main_code, 1, 0, true);
    const Object& middle = frame(middle_code, 1, main.at(), false);
    activation(0, frame(leaf_code, 1, middle.at(), false).at(), true);
    look();
    const PythonFrames::Change change = look(true);
    EXPECT_TRUE(change.is_any);
    EXPECT_EQ(change.entries, 1u);
}

TEST_F(PythonFramesTest, a_code_object_at_the_address_of_another_is_noticed) {
    Object& reused = code("first", 10);
    activation(0, frame(reused, 1, 0, true).at(), true);
    look();
    EXPECT_EQ(names(0), "first:11");
    const Object& other = code("second", 50);
    std::uintptr_t name = 0;
    std::memcpy(&name, reinterpret_cast<const void*>(other.at() + layout.code_name), sizeof name);
    reused.set(layout.code_name, name).set<std::int32_t>(layout.code_line, 50);
    EXPECT_TRUE(look().is_any);
    EXPECT_EQ(names(0), "second:51");
}

TEST_F(PythonFramesTest, chains_that_make_no_sense_give_no_names_and_end) {
    const Object& main_code = code("main", 10);
    // A cycle, without an outermost frame.
    Object& cycle = frame(main_code, 1, 0, false);
    cycle.set(layout.frame_outer, cycle.at());
    activation(0, cycle.at(), true);
    look();
    EXPECT_EQ(names(0), "");
    // Frames and code that do not exist.
    activation(0, unmapped, true);
    look();
    EXPECT_EQ(names(0), "");
    activation(0, frame(main_code, 1, unmapped, false).at(), true);
    look();
    EXPECT_EQ(names(0), "");
    Object& without_code = frame(main_code, 1, 0, true);
    without_code.set(layout.frame_code, unmapped);
    activation(0, without_code.at(), true);
    look();
    EXPECT_EQ(names(0), "");
    // A frame that was left, and is not called by what the next outer activation runs.
    activation(0, frame(main_code, 1, 0x5000, true).at(), true);
    look();
    EXPECT_EQ(names(0), "");
    // Code that was freed: its count of references is a link of the allocator.
    Object& freed = code("freed", 1);
    freed.set<std::int64_t>(0, 0x7f0000000000);
    activation(0, frame(freed, 1, 0, true).at(), true);
    look();
    EXPECT_EQ(names(0), "");
    // Texts of impossible size.
    Object& endless = code("endless", 1);
    Object& name = object(64);
    name.set(layout.object_type, text_type).set<std::int64_t>(layout.text_length, std::int64_t{1} << 60).set<std::uint32_t>(layout.text_state, 0xe4);
    endless.set(layout.code_name, name.at());
    activation(0, frame(endless, 1, 0, true).at(), true);
    look();
    EXPECT_EQ(names(0), "");
    // Activations in a circle.
    activation(0, frame(main_code, 1, 0, true).at(), false);
    activation(1, 0, false);
    stack_[4 + 2] = activation_at(0);
    look();
    EXPECT_LE(frames_.size(), 2u);
    // A thread's state that is gone.
    frames_.look(unmapped, activation_at(0), activation_at(8), false);
    EXPECT_EQ(frames_.size(), 0u);
    activation(0, frame(main_code, 4, 0, true).at(), true);
    look();
    EXPECT_EQ(names(0), "main:14"); // and all is well again
}

TEST_F(PythonFramesTest, memory_that_ends_is_not_read_beyond) {
    auto* page = static_cast<unsigned char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(page, MAP_FAILED);
    munmap(page + 4096, 4096);
    SafeMemory memory;
    std::uint64_t value = 0;
    EXPECT_TRUE(memory.read(reinterpret_cast<std::uintptr_t>(page) + 4088, value));
    EXPECT_FALSE(memory.read(reinterpret_cast<std::uintptr_t>(page) + 4092, value));
    const std::uintptr_t pieces[] = {reinterpret_cast<std::uintptr_t>(page), reinterpret_cast<std::uintptr_t>(page) + 4096};
    std::uint64_t read[2];
    EXPECT_EQ(SafeMemory::read_pieces(pieces, 2, read, 8), 1u);
    munmap(page, 4096);
}

} // namespace libprofile

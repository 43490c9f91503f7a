#include "tools/text/shell.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

bool is_harmless(char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_letter || std::string_view("_-+./:,=@%").find(c) != std::string_view::npos;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

} // namespace

std::string shell_word(const std::string& text) {
    if (!text.empty() && std::all_of(text.begin(), text.end(), is_harmless)) return text;
    const bool has_controls = std::any_of(text.begin(), text.end(), is_control);
    std::string word = has_controls ? "$'" : "'";
    for (const char c : text) {
        if (is_control(c))
            word += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
        else if (c == '\'')
            word += has_controls ? "\\'" : "'\\''";
        else if (c == '\\' && has_controls)
            word += "\\\\";
        else
            word += c;
    }
    return word + "'";
}

} // namespace libprofile::tools

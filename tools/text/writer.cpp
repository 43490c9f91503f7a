#include "tools/text/writer.hpp"

#include <algorithm>

namespace libprofile::tools {

void TextWriter::title(const std::string& text) { line(tinted(style_, Tint::Title, columns(text) > width() ? left(style_, text, width()) : text)); }

void TextWriter::heading(const std::string& text, const std::string& remark) {
    text_ += "\n" + tinted(style_, Tint::Heading, text);
    if (!remark.empty()) {
        const std::vector<std::string> lines = wrapped(spelled(style_, remark), width() - std::min<std::size_t>(columns(text) + 2, 50));
        for (std::size_t i = 0; i < lines.size(); ++i)
            text_ += (i == 0 ? "  " : "\n" + std::string(columns(text) + 2, ' ')) + tinted(style_, Tint::Dim, lines[i]);
    }
    text_ += "\n";
}

void TextWriter::paragraph(const std::string& text, const std::string& first, const std::string& next) {
    const std::vector<std::string> lines = wrapped(text, width() - columns(first));
    for (std::size_t i = 0; i < lines.size(); ++i) line((i == 0 ? first : next) + lines[i]);
}

void TextWriter::note(const std::string& sentence, Tint tint, const std::string& indent) {
    const std::string mark = indent + "note: ";
    const std::vector<std::string> lines = wrapped(sentence, width() - mark.size());
    for (std::size_t i = 0; i < lines.size(); ++i) line((i == 0 ? tinted(style_, tint, mark) : std::string(mark.size(), ' ')) + lines[i]);
}

} // namespace libprofile::tools

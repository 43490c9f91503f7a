// Lines of a report in the style of their output: headings, dim remarks, paragraphs as wide as the page.
// Contract: one thread; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/text/layout.hpp"

#include <string>

namespace libprofile::tools {

class TextWriter {
  public:
    explicit TextWriter(const TextStyle& style) : style_(style) {}

    const TextStyle& style() const { return style_; }
    std::size_t width() const { return static_cast<std::size_t>(style_.width); }

    /// A line as it is.
    void line(const std::string& text) { text_ += text + "\n"; }
    /// A line without the blanks at its end.
    void row(const std::string& text) { line(text.substr(0, text.find_last_not_of(' ') + 1)); }
    void dim(const std::string& text) { line(tinted(style_, Tint::Dim, text)); }
    /// The first line, cut to the width.
    void title(const std::string& text);
    /// After an empty line: "Title" in front of a dim remark.
    void heading(const std::string& text, const std::string& remark = "");
    /// Wrapped; `first` stands in front of the first line, `next` in front of the others.
    void paragraph(const std::string& text, const std::string& first = "", const std::string& next = "");
    /// "note: " and the sentence.
    void note(const std::string& sentence, Tint tint = Tint::Warning, const std::string& indent = "");

    const std::string& text() const { return text_; }

  private:
    TextStyle style_;
    std::string text_;
};

} // namespace libprofile::tools

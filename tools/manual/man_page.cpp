#include "tools/manual/man_page.hpp"

#include "tools/launch/settings.hpp"

#include <cctype>
#include <fmt/format.h>
#include <sstream>
#include <vector>

namespace libprofile::tools {

namespace {

/// Plain text for groff: no escapes, no requests, and hyphens that can be copied into a shell.
std::string roff(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else
            out += c;
    }
    return out;
}

struct Section {
    std::string heading;
    std::string body;
};

std::size_t indent_of(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

/// Takes the lines of a help text and sorts them into sections.
class HelpReader {
  public:
    explicit HelpReader(const std::string& help) {
        std::istringstream in(help);
        for (std::string line; std::getline(in, line);) take(line);
    }
    std::string text() const {
        std::string out = section(synopsis_) + section(description_);
        for (const Section& other : others_) out += section(other);
        return out + section(examples_);
    }

  private:
    static std::string section(const Section& section) { return section.body.empty() ? "" : fmt::format(".SH {}\n{}", section.heading, section.body); }
    void take(const std::string& line) {
        if (line.empty()) {
            in_ = &description_;
            is_new_ = true;
        } else if (line.starts_with("Usage: ")) {
            synopsis_.body += fmt::format(".B {}\n", roff(line.substr(7)));
            in_ = &description_;
            is_new_ = true;
        } else if (indent_of(line) == 0 && line.back() == ':') {
            const std::string heading = line.substr(0, line.size() - 1);
            if (heading == "Examples")
                in_ = &examples_;
            else
                in_ = &others_.emplace_back(Section{upper(heading), ""});
        } else if (indent_of(line) == 0) {
            if (in_ != &description_) in_ = &description_, is_new_ = true;
            if (is_new_ && !in_->body.empty()) in_->body += ".PP\n";
            is_new_ = false;
            in_->body += roff(line) + "\n";
        } else {
            item(line);
        }
    }
    /// "  tag   text", or the rest of an item's text, which is indented further.
    void item(const std::string& line) {
        const std::size_t begin = indent_of(line);
        if (begin > 2) {
            in_->body += roff(line.substr(begin)) + "\n";
            return;
        }
        const std::size_t gap = line.find("  ", begin);
        in_->body += fmt::format(".TP\n.B {}\n", roff(line.substr(begin, gap - begin)));
        if (gap != std::string::npos) in_->body += roff(line.substr(line.find_first_not_of(' ', gap))) + "\n";
    }

    Section synopsis_{"SYNOPSIS", ""}, description_{"DESCRIPTION", ""}, examples_{"EXAMPLES", ""};
    std::vector<Section> others_;
    Section* in_ = &description_;
    bool is_new_ = true; // the next line begins a paragraph
};

std::string head(const ManPage& page, const std::string& version) {
    return fmt::format(".\\\" Written by the build from the text of --help and format/options.def.\n"
                       ".TH {} {} \"\" \"libprofile {}\" \"libprofile\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n",
                       upper(page.name), page.section, version, roff(page.name), roff(page.summary));
}

} // namespace

std::string man_page(const ManPage& page, const std::string& version) {
    std::string out = head(page, version) + HelpReader(page.help).text();
    if (!page.see_also.empty()) out += fmt::format(".SH SEE ALSO\n{}\n", roff(page.see_also));
    return out;
}

std::string options_man_page(const std::string& version) {
    std::string out = head({"libprofile-options", 7, "settings of a measurement", "", ""}, version);
    out += fmt::format(".SH DESCRIPTION\n{}\n.SH OPTIONS\n",
                       roff("Each setting is an environment variable of the job and an option of \"libprofile run\". " + value_forms()));
    for (const OptionRow& row : option_table) {
        out += fmt::format(".TP\n.BR {}{} \", \" {}\n{}", option_prefix, row.name, roff(flag_of(row)), roff(type_word(row.type)));
        if (const std::string range = range_of(row); !range.empty()) out += roff(": " + range);
        if (*row.default_value != 0) out += roff(fmt::format(" (default {})", row.default_value));
        out += fmt::format("\n.br\n{}.\n", roff(row.description));
    }
    return out + ".SH SEE ALSO\n" + roff("libprofile(1), libprofile-run(1)") + "\n";
}

} // namespace libprofile::tools

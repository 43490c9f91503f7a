#include "tools/plot/svg.hpp"

#include "tools/names/xml.hpp"

#include <fmt/format.h>
#include <fstream>

namespace libprofile::tools {

namespace {

std::string points_of(const std::vector<std::pair<double, double>>& points) {
    std::string out;
    for (const auto& [x, y] : points) out += fmt::format("{:.1f},{:.1f} ", x, y);
    return out;
}

const char* dashes(bool dashed) { return dashed ? " stroke-dasharray=\"5 3\"" : ""; }

} // namespace

void Svg::rectangle(const Box& box, const std::string& colour) {
    body_ += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" "
                         "shape-rendering=\"crispEdges\"/>\n",
                         box.x, box.y, box.width, box.height, colour);
}

void Svg::frame(const Box& box, const std::string& colour) {
    body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"{}\"/>\n", box.x, box.y, box.width,
                         box.height, colour);
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& colour, bool dashed) {
    body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n", x1, y1, x2, y2, colour, dashes(dashed));
}

void Svg::path(const std::vector<std::pair<double, double>>& points, const std::string& colour, bool dashed) {
    body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", points_of(points), colour, dashes(dashed));
}

void Svg::area(const std::vector<std::pair<double, double>>& points, const std::string& colour) {
    body_ += fmt::format("<polygon points=\"{}\" fill=\"{}\"/>\n", points_of(points), colour);
}

void Svg::dot(double x, double y, const std::string& colour, bool filled) {
    body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\" stroke=\"{}\"/>\n", x, y, filled ? colour : "white", colour);
}

void Svg::text(double x, double y, const std::string& text, Anchor anchor, double size, const std::string& colour) {
    constexpr const char* anchors[] = {"start", "middle", "end"};
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", x, y, size,
                         anchors[static_cast<int>(anchor)], colour, xml_text(text));
}

void Svg::upright_text(double x, double y, const std::string& text, double size) {
    body_ += fmt::format("<text x=\"{0:.1f}\" y=\"{1:.1f}\" font-size=\"{2}\" text-anchor=\"middle\" fill=\"#333333\" "
                         "transform=\"rotate(-90 {0:.1f} {1:.1f})\">{3}</text>\n",
                         x, y, size, xml_text(text));
}

std::string Svg::document() const {
    return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                       "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\">\n"
                       "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
                       width_, height_, body_);
}

void Svg::save(const std::filesystem::path& file) const {
    std::ofstream out(file, std::ios::binary);
    out << document();
    if (!out.flush()) throw PlotError(fmt::format("cannot write {}; free some space or choose another folder", file.string()));
}

} // namespace libprofile::tools

// A picture as Scalable Vector Graphics: the few shapes that charts are made of.
// Contract: one thread; allocates its text; throws std::bad_alloc only, save() PlotError. Lengths are pixels at 96 dpi,
// y grows downward. Text is escaped.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// A picture cannot be written; says what to do.
class PlotError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct Box {
    double x = 0, y = 0, width = 0, height = 0;
    double right() const { return x + width; }
    double bottom() const { return y + height; }
};

enum class Anchor { Start, Middle, End };

class Svg {
  public:
    Svg(double width, double height) : width_(width), height_(height) {}

    void rectangle(const Box& box, const std::string& colour);
    void frame(const Box& box, const std::string& colour);
    void line(double x1, double y1, double x2, double y2, const std::string& colour, bool dashed = false);
    void path(const std::vector<std::pair<double, double>>& points, const std::string& colour, bool dashed = false);
    void area(const std::vector<std::pair<double, double>>& points, const std::string& colour);
    void dot(double x, double y, const std::string& colour, bool filled = true);
    void text(double x, double y, const std::string& text, Anchor anchor = Anchor::Start, double size = 11, const std::string& colour = "#333333");
    /// Reads from bottom to top.
    void upright_text(double x, double y, const std::string& text, double size = 11);

    std::string document() const;
    void save(const std::filesystem::path& file) const;

  private:
    double width_, height_;
    std::string body_;
};

} // namespace libprofile::tools

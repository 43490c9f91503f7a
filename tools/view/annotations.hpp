// What users wrote at times of the timeline: a file beside the profile, which everybody who looks at the profile sees.
// Contract: one thread at a time; allocates; throws ViewError with one sentence, and std::bad_alloc. What somebody else wrote into the file is
// believed only as far as is_allowed() goes: the rest of it makes an error, and the file stays as it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace libprofile::tools {

struct Annotation {
    static constexpr std::size_t longest_text = 500; // characters
    static constexpr std::uint64_t last_ns = (std::uint64_t{1} << 53) - 1;

    std::string id;        // 1 to 32 letters and digits
    std::uint64_t ns = 0;  // on the axis of the timeline
    bool is_of_all = true; // else of one thread
    std::uint32_t rank = 0, thread = 0;
    std::string text;
};

class AnnotationFile {
  public:
    /// @param profile its folder, or its file
    explicit AnnotationFile(const std::filesystem::path& profile);

    std::string name() const { return path_.string(); }
    /// None if there is no file.
    std::vector<Annotation> read() const;
    /// Adds one, or replaces that with the same id.
    /// @return all
    std::vector<Annotation> put(const Annotation& one) const;
    std::vector<Annotation> remove(const std::string& id) const;

    static constexpr std::size_t most_bytes = std::size_t{1} << 20;
    static constexpr std::size_t most = 2000; // annotations

  private:
    void write(const std::vector<Annotation>& list) const;
    std::filesystem::path path_;
};

/// @throws ViewError what is wrong with it
Annotation annotation_of(const nlohmann::ordered_json& json);
nlohmann::ordered_json json_of(const std::vector<Annotation>& list);

/// For the header of a page: the list, the name of the file, and what is wrong with it.
/// @param profile empty: there is no file
nlohmann::ordered_json annotations_entry(const std::string& profile);

} // namespace libprofile::tools

// An archive of the Open Trace Format 2, written by its library into a folder of its own and handed to a sink.
// Contract: one thread, one archive at a time (the library's error callback is the process's). Throws ExportError when the library refuses something.
// Format: Open Trace Format Version 2, revision 3.0 (score-p.org).
#pragma once

#include "tools/export/sink.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <otf2/otf2.h>
#include <string>

namespace libprofile::tools {

class Otf2Archive {
  public:
    explicit Otf2Archive(const std::string& creator);
    Otf2Archive(const Otf2Archive&) = delete;
    Otf2Archive& operator=(const Otf2Archive&) = delete;

    /// The writer of one location's events. One at a time: close_events() gives its memory back, and says how many events it has.
    OTF2_EvtWriter* open_events(OTF2_LocationRef location);
    std::uint64_t close_events(OTF2_EvtWriter* writer);
    /// All events were written.
    void end_events();
    /// The writer of the definitions, which come after the events.
    OTF2_GlobalDefWriter* definitions() const { return definitions_; }
    /// The number of a string, which is defined at its first use.
    OTF2_StringRef text(const std::string& value);
    /// Adds all files to the sink. Nothing is written afterwards.
    void finish(Sink& sink);

    /// @throws ExportError unless `code` is that of success
    void check(OTF2_ErrorCode code) const;

  private:
    /// A temporary folder, while the library's errors come to us.
    struct Folder {
        Folder();
        ~Folder();
        Folder(const Folder&) = delete;
        Folder& operator=(const Folder&) = delete;
        std::filesystem::path path;
    };
    struct Close {
        void operator()(OTF2_Archive* archive) const { OTF2_Archive_Close(archive); }
    };
    Folder folder_; // goes after the archive
    std::unique_ptr<OTF2_Archive, Close> archive_;
    OTF2_GlobalDefWriter* definitions_ = nullptr;
    std::map<std::string, OTF2_StringRef> texts_;
};

} // namespace libprofile::tools

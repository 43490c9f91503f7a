// Opening files of ours where other users may write, too: nothing that they have put there is followed or changed.
// Contract: outside handlers; system calls only, allocates nothing. A result below zero is -error, an error one of errno's or of these.
#pragma once

#include <fcntl.h>

namespace libprofile {

/// Beside errno's numbers.
enum PlaceError : int { ForeignFolder = 10001, OpenFolder, ForeignFile };

/// In words, for a message.
const char* what_failed(int error) noexcept;

/// May files of ours lie in a folder that was there already? Not where it, or the link that leads to it, belongs to another user, nor where
/// everybody may write. 0, or why not.
int check_folder(const char* path) noexcept;

/// A file that was not there until now. Its descriptor.
int open_new(const char* path) noexcept;

/// A file of ours: a regular one that no other user has made and that has no other name. Its descriptor.
/// @param access O_WRONLY or O_RDWR, with O_CREAT if it may be missing; O_RDONLY
int open_own(const char* path, int access) noexcept;

} // namespace libprofile

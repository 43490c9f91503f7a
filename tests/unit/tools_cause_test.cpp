#include "tools/diagnosis/cause.hpp"

#include <gtest/gtest.h>

namespace libprofile::tools {
namespace {

Cause of_communication(double bytes_here, double bytes_there, double longer_ns, double mpi_there_ns) {
    Suspect suspect;
    suspect.kind = SuspectKind::Communication;
    Evidence evidence;
    evidence.bytes_here = bytes_here;
    evidence.bytes_there = bytes_there;
    evidence.mpi = longer_ns;
    evidence.mpi_there = mpi_there_ns;
    return cause_of(suspect, evidence);
}

TEST(Cause, MoreBytesAreTheCauseOfTimeInProportionOnly) {
    EXPECT_EQ(of_communication(64e3, 32e3, 1e6, 1e6), Cause::CommunicationVolume);
    EXPECT_EQ(of_communication(64e3, 32e3, 3e6, 1e6), Cause::CommunicationVolume) << "another protocol";
    EXPECT_EQ(of_communication(64e3, 0, 1e6, 0), Cause::CommunicationVolume) << "none elsewhere";
    EXPECT_EQ(of_communication(64e3, 32e3, 277e6, 1e6), Cause::SlowCommunication) << "a processor that others had";
    EXPECT_EQ(of_communication(34e3, 32e3, 1e5, 1e6), Cause::SlowCommunication) << "hardly more";
}

} // namespace
} // namespace libprofile::tools

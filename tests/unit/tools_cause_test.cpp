#include "tools/diagnosis/cause.hpp"

#include <gtest/gtest.h>

namespace libprofile::tools {
namespace {

/// `waiting_ns`: of the mean rank, beyond the one that waits least.
Cause of_communication(double bytes_here, double bytes_there, double longer_ns, double mpi_there_ns, double waiting_ns = 0, bool is_new_call = false) {
    Suspect suspect;
    suspect.kind = SuspectKind::Communication;
    Evidence evidence;
    evidence.bytes_here = bytes_here;
    evidence.bytes_there = bytes_there;
    evidence.expected = longer_ns;
    evidence.mpi = longer_ns + waiting_ns;
    evidence.mpi_there = mpi_there_ns;
    const double of_call = is_new_call ? 0 : mpi_there_ns;
    evidence.mpi_of_all = {{1, of_call + longer_ns, of_call, 1}};
    return cause_of(suspect, evidence);
}

TEST(Cause, MoreBytesAreTheCauseOfTimeInProportionOnly) {
    EXPECT_EQ(of_communication(64e3, 32e3, 1e6, 1e6), Cause::CommunicationVolume);
    EXPECT_EQ(of_communication(64e3, 32e3, 3e6, 1e6), Cause::CommunicationVolume) << "another protocol";
    EXPECT_EQ(of_communication(64e3, 0, 1e6, 0), Cause::CommunicationVolume) << "none elsewhere";
    EXPECT_EQ(of_communication(64e3, 32e3, 2e6, 2e6, 20e6), Cause::CommunicationVolume) << "and one of the ranks comes later, too";
    EXPECT_EQ(of_communication(64e3, 32e3, 20e6, 1e6, 0, true), Cause::CommunicationVolume) << "another call, between nodes";
    EXPECT_EQ(of_communication(64e3, 32e3, 277e6, 1e6), Cause::SlowCommunication) << "a processor that others had";
    EXPECT_EQ(of_communication(34e3, 32e3, 1e5, 1e6), Cause::SlowCommunication) << "hardly more";
}

} // namespace
} // namespace libprofile::tools

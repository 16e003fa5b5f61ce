//! Calls that a trace can hold.

/// Kind of a call, as far as matching and replay are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallKind {
    /// Begins or ends the program, or takes part in no communication.
    Local,
    /// Sends and returns when the buffer may be used again.
    Send,
    /// Starts a send and makes a request.
    Isend,
    /// Receives.
    Recv,
    /// Starts a receive and makes a request.
    Irecv,
    /// Sends and receives.
    Sendrecv,
    /// Makes a request that can be started again and again, for a send.
    SendInit,
    /// Makes a request that can be started again and again, for a receive.
    RecvInit,
    /// Starts persistent requests.
    Start,
    /// Waits for all its requests.
    Wait,
    /// Waits for one or some of the requests offered to it.
    WaitAny,
    /// Tests requests for completion; names those that are complete.
    Test,
    /// Waits until there is a message to receive.
    Probe,
    /// Tests for a message to receive.
    Iprobe,
    /// A collective operation.
    Collective,
    /// A collective operation that makes a request.
    Icollective,
    /// Makes or frees a communicator; a collective operation of no size.
    Communicator,
    /// Takes time, with effects that are not understood: one-sided communication, files.
    Opaque,
}

macro_rules! calls {
    ($($code:literal $name:ident $text:literal $kind:ident)*) => {
        /// An MPI call; its number is part of the format and never changes.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "they are the names of MPI")]
        pub enum Call { $($name = $code),* }

        impl Call {
            /// All calls, by ascending number.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the call with this number.
            #[inline]
            pub fn from_code(code: u64) -> Option<Self> {
                match code { $($code => Some(Self::$name),)* _ => None }
            }

            /// Name without `MPI_`: `Comm_split`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// Kind of the call.
            #[inline]
            pub fn kind(self) -> CallKind {
                match self { $(Self::$name => CallKind::$kind),* }
            }

            /// Returns the call with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

calls! {
    0 Init "Init" Local
    1 Finalize "Finalize" Local
    2 Abort "Abort" Local
    3 Compute "Compute" Local
    4 Opaque "Opaque" Opaque

    10 Send "Send" Send
    11 Bsend "Bsend" Send
    12 Ssend "Ssend" Send
    13 Rsend "Rsend" Send
    14 Isend "Isend" Isend
    15 Ibsend "Ibsend" Isend
    16 Issend "Issend" Isend
    17 Irsend "Irsend" Isend
    18 Recv "Recv" Recv
    19 Irecv "Irecv" Irecv
    20 Sendrecv "Sendrecv" Sendrecv
    21 SendrecvReplace "Sendrecv_replace" Sendrecv
    22 Mrecv "Mrecv" Recv
    23 Imrecv "Imrecv" Irecv

    30 SendInit "Send_init" SendInit
    31 BsendInit "Bsend_init" SendInit
    32 SsendInit "Ssend_init" SendInit
    33 RsendInit "Rsend_init" SendInit
    34 RecvInit "Recv_init" RecvInit
    35 Start "Start" Start
    36 Startall "Startall" Start

    40 Wait "Wait" Wait
    41 Waitall "Waitall" Wait
    42 Waitany "Waitany" WaitAny
    43 Waitsome "Waitsome" WaitAny
    44 Test "Test" Test
    45 Testall "Testall" Test
    46 Testany "Testany" Test
    47 Testsome "Testsome" Test
    48 Cancel "Cancel" Local
    49 RequestFree "Request_free" Local
    50 Probe "Probe" Probe
    51 Iprobe "Iprobe" Iprobe
    52 Mprobe "Mprobe" Probe
    53 Improbe "Improbe" Iprobe

    60 Barrier "Barrier" Collective
    61 Bcast "Bcast" Collective
    62 Reduce "Reduce" Collective
    63 Allreduce "Allreduce" Collective
    64 Gather "Gather" Collective
    65 Gatherv "Gatherv" Collective
    66 Scatter "Scatter" Collective
    67 Scatterv "Scatterv" Collective
    68 Allgather "Allgather" Collective
    69 Allgatherv "Allgatherv" Collective
    70 Alltoall "Alltoall" Collective
    71 Alltoallv "Alltoallv" Collective
    72 Alltoallw "Alltoallw" Collective
    73 ReduceScatter "Reduce_scatter" Collective
    74 ReduceScatterBlock "Reduce_scatter_block" Collective
    75 Scan "Scan" Collective
    76 Exscan "Exscan" Collective

    80 Ibarrier "Ibarrier" Icollective
    81 Ibcast "Ibcast" Icollective
    82 Ireduce "Ireduce" Icollective
    83 Iallreduce "Iallreduce" Icollective
    84 Igather "Igather" Icollective
    85 Igatherv "Igatherv" Icollective
    86 Iscatter "Iscatter" Icollective
    87 Iscatterv "Iscatterv" Icollective
    88 Iallgather "Iallgather" Icollective
    89 Iallgatherv "Iallgatherv" Icollective
    90 Ialltoall "Ialltoall" Icollective
    91 Ialltoallv "Ialltoallv" Icollective
    92 Ialltoallw "Ialltoallw" Icollective
    93 IreduceScatter "Ireduce_scatter" Icollective
    94 IreduceScatterBlock "Ireduce_scatter_block" Icollective
    95 Iscan "Iscan" Icollective
    96 Iexscan "Iexscan" Icollective

    100 CommDup "Comm_dup" Communicator
    101 CommSplit "Comm_split" Communicator
    102 CommSplitType "Comm_split_type" Communicator
    103 CommCreate "Comm_create" Communicator
    104 CommCreateGroup "Comm_create_group" Communicator
    105 CommIdup "Comm_idup" Communicator
    106 CartCreate "Cart_create" Communicator
    107 CartSub "Cart_sub" Communicator
    108 GraphCreate "Graph_create" Communicator
    109 DistGraphCreate "Dist_graph_create" Communicator
    110 DistGraphCreateAdjacent "Dist_graph_create_adjacent" Communicator
    111 IntercommCreate "Intercomm_create" Communicator
    112 IntercommMerge "Intercomm_merge" Communicator
    113 CommFree "Comm_free" Local
}

impl Call {
    /// Number in the format.
    #[inline]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the blocking form of a collective operation that makes a request; any other call itself.
    pub fn blocking(self) -> Self {
        match self.kind() {
            CallKind::Icollective => Self::from_code(u64::from(self.code()) - 20).unwrap_or(self),
            _ => self,
        }
    }

    /// Returns true if the call makes a request: its number is the call's only request.
    #[inline]
    pub fn makes_request(self) -> bool {
        matches!(
            self.kind(),
            CallKind::Isend | CallKind::Irecv | CallKind::SendInit | CallKind::RecvInit | CallKind::Icollective
        ) || self == Self::CommIdup
    }

    /// Returns true if the requests that the call names are complete: a wait, or a test.
    #[inline]
    pub fn completes_requests(self) -> bool {
        matches!(self.kind(), CallKind::Wait | CallKind::WaitAny | CallKind::Test)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back_to_the_call() {
        for &call in Call::ALL {
            assert_eq!(Call::from_code(call.code().into()), Some(call));
            assert_eq!(Call::from_name(call.name()), Some(call));
        }
        assert_eq!(Call::from_code(255), None);
    }

    #[test]
    fn every_collective_that_makes_a_request_has_its_blocking_form() {
        for &call in Call::ALL.iter().filter(|call| call.kind() == CallKind::Icollective) {
            let blocking = call.blocking();
            assert_eq!(blocking.kind(), CallKind::Collective);
            assert_eq!(format!("I{}", blocking.name().to_lowercase()), call.name().to_owned());
        }
    }
}

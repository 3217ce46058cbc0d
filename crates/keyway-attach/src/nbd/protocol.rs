//! NBD's messages: bytes from the client become types once, answers become bytes.
//!
//! Numbers and layouts are those of the protocol's specification, `doc/proto.md` of
//! <https://github.com/NetworkBlockDevice/nbd>, by whose names they go. All integers are
//! big-endian. Nothing here does I/O, allocates, or can panic on any input.

use super::context::ContextQuery;
use super::reader::{MAX_STRING, Reader};

/// `NBDMAGIC`, the first word of every server.
pub(crate) const INIT_MAGIC: u64 = 0x4e42_444d_4147_4943;
/// `IHAVEOPT`, the server's second word and the head of every option.
pub(crate) const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
pub(crate) const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
pub(crate) const REQUEST_MAGIC: u32 = 0x2560_9513;
pub(crate) const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

/// Handshake flags, both the server's and the client's: `FIXED_NEWSTYLE` and `NO_ZEROES`.
pub(crate) const FLAG_FIXED_NEWSTYLE: u32 = 1;
pub(crate) const FLAG_NO_ZEROES: u32 = 2;

/// Largest read or write taken, in bytes: what most servers take and every client respects.
pub(crate) const MAX_REQUEST: u32 = 32 << 20;

/// Command flags.
pub(crate) const CMD_FLAG_FUA: u16 = 1;
pub(crate) const CMD_FLAG_NO_HOLE: u16 = 1 << 1;
pub(crate) const CMD_FLAG_DF: u16 = 1 << 2;
pub(crate) const CMD_FLAG_REQ_ONE: u16 = 1 << 3;
pub(crate) const CMD_FLAG_FAST_ZERO: u16 = 1 << 4;

/// What an export offers: the 16 transmission flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransmissionFlags(pub(crate) u16);

impl TransmissionFlags {
    const HAS_FLAGS: u16 = 1;
    const READ_ONLY: u16 = 1 << 1;
    const SEND_FLUSH: u16 = 1 << 2;
    const SEND_FUA: u16 = 1 << 3;
    const SEND_TRIM: u16 = 1 << 5;
    const SEND_WRITE_ZEROES: u16 = 1 << 6;
    const SEND_DF: u16 = 1 << 7;
    const CAN_MULTI_CONN: u16 = 1 << 8;
    const SEND_FAST_ZERO: u16 = 1 << 11;

    /// The flags of our one export.
    pub(crate) fn new(read_only: bool, structured: bool) -> Self {
        let mut flags = Self::HAS_FLAGS | Self::SEND_FLUSH | Self::SEND_FUA | Self::CAN_MULTI_CONN;
        flags |= if read_only {
            Self::READ_ONLY
        } else {
            Self::SEND_TRIM | Self::SEND_WRITE_ZEROES | Self::SEND_FAST_ZERO
        };
        if structured {
            flags |= Self::SEND_DF;
        }
        Self(flags)
    }
}

/// The server's greeting.
pub(crate) fn greeting() -> [u8; 18] {
    let mut out = [0; 18];
    out[..8].copy_from_slice(&INIT_MAGIC.to_be_bytes());
    out[8..16].copy_from_slice(&OPTION_MAGIC.to_be_bytes());
    out[16..].copy_from_slice(&((FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES) as u16).to_be_bytes());
    out
}

/// The head of an option: its number and how many bytes of data follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OptionHead {
    pub(crate) number: u32,
    pub(crate) len: u32,
}

impl OptionHead {
    pub(crate) const BYTES: usize = 16;

    /// `None`: not an option's head.
    pub(crate) fn parse(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let mut cut = Reader(bytes);
        if cut.u64()? != OPTION_MAGIC {
            return None;
        }
        Some(Self { number: cut.u32()?, len: cut.u32()? })
    }
}

/// What a client asks for while it negotiates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientOption<'a> {
    /// Use this export at once; no error can be told.
    ExportName(&'a [u8]),
    /// Go away in peace.
    Abort,
    /// Which exports are there?
    List,
    /// Tell about this export.
    Info(ExportQuery<'a>),
    /// Tell about this export and use it.
    Go(ExportQuery<'a>),
    /// Use structured replies.
    StructuredReply,
    /// Encrypt all that follows.
    StartTls,
    /// Which metadata contexts are there?
    ListContexts(ContextQuery<'a>),
    /// Use these.
    SetContexts(ContextQuery<'a>),
    /// One we do not have.
    Unknown,
    /// One we have, with data that makes no sense.
    Invalid,
}

/// The data of `INFO` and `GO`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExportQuery<'a> {
    pub(crate) name: &'a [u8],
    /// Whether the export's name was among the information asked for.
    pub(crate) wants_name: bool,
}

impl<'a> ExportQuery<'a> {
    fn parse(data: &'a [u8]) -> Option<Self> {
        let mut cut = Reader(data);
        let len = cut.u32()? as usize;
        if len > MAX_STRING {
            return None;
        }
        let name = cut.bytes(len)?;
        let count = cut.u16()?;
        let mut wants_name = false;
        for _ in 0..count {
            wants_name |= cut.u16()? == INFO_NAME;
        }
        cut.0.is_empty().then_some(Self { name, wants_name })
    }
}

impl<'a> ClientOption<'a> {
    /// Sorts an option's data.
    pub(crate) fn parse(number: u32, data: &'a [u8]) -> Self {
        let alone = |option| if data.is_empty() { option } else { Self::Invalid };
        match number {
            1 if data.len() <= MAX_STRING => Self::ExportName(data),
            1 => Self::Invalid,
            // What comes with an abort does not matter any more.
            2 => Self::Abort,
            3 => alone(Self::List),
            5 => alone(Self::StartTls),
            6 => ExportQuery::parse(data).map_or(Self::Invalid, Self::Info),
            7 => ExportQuery::parse(data).map_or(Self::Invalid, Self::Go),
            8 => alone(Self::StructuredReply),
            9 => ContextQuery::parse(data).map_or(Self::Invalid, Self::ListContexts),
            10 => ContextQuery::parse(data).map_or(Self::Invalid, Self::SetContexts),
            _ => Self::Unknown,
        }
    }
}

/// Kinds of answers to an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum OptionReply {
    Ack = 1,
    Server = 2,
    Info = 3,
    MetaContext = 4,
    Unsupported = (1 << 31) + 1,
    Policy = (1 << 31) + 2,
    Invalid = (1 << 31) + 3,
    TlsRequired = (1 << 31) + 5,
    UnknownExport = (1 << 31) + 6,
    ShuttingDown = (1 << 31) + 7,
    TooBig = (1 << 31) + 9,
}

/// The head of an answer to option `number` that carries `len` bytes.
pub(crate) fn option_reply_head(number: u32, reply: OptionReply, len: u32) -> [u8; 20] {
    let mut out = [0; 20];
    out[..8].copy_from_slice(&OPTION_REPLY_MAGIC.to_be_bytes());
    out[8..12].copy_from_slice(&number.to_be_bytes());
    out[12..16].copy_from_slice(&(reply as u32).to_be_bytes());
    out[16..].copy_from_slice(&len.to_be_bytes());
    out
}

/// `NBD_INFO_NAME`.
pub(crate) const INFO_NAME: u16 = 1;

/// `NBD_INFO_EXPORT`: size in bytes and flags.
pub(crate) fn info_export(size: u64, flags: TransmissionFlags) -> [u8; 12] {
    let mut out = [0; 12];
    out[2..10].copy_from_slice(&size.to_be_bytes());
    out[10..].copy_from_slice(&flags.0.to_be_bytes());
    out
}

/// `NBD_INFO_BLOCK_SIZE` (3): smallest, preferred and largest request in bytes. The smallest is the
/// volume's sector, so that clients make devices of that sector size; what a client sends without
/// having asked is taken at any alignment.
pub(crate) fn info_block_size(sector_bytes: u32) -> [u8; 14] {
    let mut out = [0; 14];
    out[1] = 3;
    out[2..6].copy_from_slice(&sector_bytes.to_be_bytes());
    out[6..10].copy_from_slice(&sector_bytes.max(4096).to_be_bytes());
    out[10..].copy_from_slice(&MAX_REQUEST.to_be_bytes());
    out
}

/// The answer to `EXPORT_NAME`; the 124 zeros at its end are left out when the client said so.
pub(crate) fn export_reply(size: u64, flags: TransmissionFlags) -> [u8; 134] {
    let mut out = [0; 134];
    out[..8].copy_from_slice(&size.to_be_bytes());
    out[8..10].copy_from_slice(&flags.0.to_be_bytes());
    out
}

/// What a request wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Read,
    Write,
    Disconnect,
    Flush,
    Trim,
    WriteZeroes,
    BlockStatus,
    Unknown,
}

/// What a client and we have agreed on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Agreed {
    /// Answers to reads are structured.
    pub(crate) structured: bool,
    /// The client may ask which parts read as zeros.
    pub(crate) allocation: bool,
}

/// A request of the transmission phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) flags: u16,
    pub(crate) command: Command,
    /// The client's own mark, sent back with the answer.
    pub(crate) cookie: u64,
    pub(crate) offset: u64,
    pub(crate) len: u32,
}

impl Request {
    pub(crate) const BYTES: usize = 28;

    /// `None`: not a request; nothing that follows can be understood.
    pub(crate) fn parse(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let mut cut = Reader(bytes);
        if cut.u32()? != REQUEST_MAGIC {
            return None;
        }
        let flags = cut.u16()?;
        let command = match cut.u16()? {
            0 => Command::Read,
            1 => Command::Write,
            2 => Command::Disconnect,
            3 => Command::Flush,
            4 => Command::Trim,
            6 => Command::WriteZeroes,
            7 => Command::BlockStatus,
            _ => Command::Unknown,
        };
        Some(Self { flags, command, cookie: cut.u64()?, offset: cut.u64()?, len: cut.u32()? })
    }

    /// Whether the request may be carried out on a device of `size` bytes, or what is wrong with it.
    pub(crate) fn check(&self, size: u64, read_only: bool, agreed: Agreed) -> Result<(), Refusal> {
        let allowed = match self.command {
            Command::Read if agreed.structured => CMD_FLAG_FUA | CMD_FLAG_DF,
            Command::BlockStatus => CMD_FLAG_FUA | CMD_FLAG_REQ_ONE,
            Command::WriteZeroes => CMD_FLAG_FUA | CMD_FLAG_NO_HOLE | CMD_FLAG_FAST_ZERO,
            _ => CMD_FLAG_FUA,
        };
        if self.command == Command::Unknown || self.flags & !allowed != 0 {
            return Err(Refusal::Invalid);
        }
        let inside = self.offset.checked_add(u64::from(self.len)).is_some_and(|end| end <= size);
        match self.command {
            Command::Read | Command::Write if self.len > MAX_REQUEST => Err(Refusal::TooLarge),
            Command::Read | Command::BlockStatus if !inside => Err(Refusal::Invalid),
            Command::BlockStatus if !agreed.allocation || self.len == 0 => Err(Refusal::Invalid),
            Command::Write | Command::Trim | Command::WriteZeroes if read_only => Err(Refusal::NotPermitted),
            Command::Write | Command::WriteZeroes if !inside => Err(Refusal::NoSpace),
            Command::Trim if !inside => Err(Refusal::Invalid),
            // Zeros are encrypted and written like anything else: never faster than that.
            Command::WriteZeroes if self.flags & CMD_FLAG_FAST_ZERO != 0 => Err(Refusal::NotSupported),
            _ => Ok(()),
        }
    }
}

/// Why a request was not carried out: the protocol's error values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Refusal {
    /// `NBD_EPERM`
    NotPermitted = 1,
    /// `NBD_EIO`
    Io = 5,
    /// `NBD_ENOMEM`
    NoMemory = 12,
    /// `NBD_EINVAL`
    Invalid = 22,
    /// `NBD_ENOSPC`
    NoSpace = 28,
    /// `NBD_EOVERFLOW`
    TooLarge = 75,
    /// `NBD_ENOTSUP`
    NotSupported = 95,
    /// `NBD_ESHUTDOWN`
    ShuttingDown = 108,
}

impl Refusal {
    /// The protocol knows few of Linux's numbers; the rest are told as their nearest relative, as
    /// its section on error values asks.
    pub(crate) fn from_errno(errno: i32) -> Self {
        match errno {
            // EPERM, EACCES, EROFS
            1 | 13 | 30 => Self::NotPermitted,
            12 => Self::NoMemory,
            22 => Self::Invalid,
            // EFBIG, ENOSPC, EDQUOT
            27 | 28 | 122 => Self::NoSpace,
            75 => Self::TooLarge,
            95 => Self::NotSupported,
            108 => Self::ShuttingDown,
            _ => Self::Io,
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::NotPermitted => "the volume does not take this write",
            Self::Io => "the medium under the volume failed",
            Self::NoMemory => "out of memory",
            Self::Invalid => "the request makes no sense",
            Self::NoSpace => "past the end of the volume, or no space under it",
            Self::TooLarge => "requests of more than 32 MiB are not taken",
            Self::NotSupported => "encrypted zeros are not faster than other data",
            Self::ShuttingDown => "the volume is being closed",
        }
    }
}

/// The first bytes of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplyHead {
    bytes: [u8; 96],
    len: usize,
}

impl ReplyHead {
    fn new() -> Self {
        Self { bytes: [0; 96], len: 0 }
    }

    /// Appends; what does not fit is cut (nothing is that long).
    fn put(mut self, bytes: &[u8]) -> Self {
        let room = self.bytes.get_mut(self.len..).unwrap_or_default();
        let n = bytes.len().min(room.len());
        for (to, from) in room.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.len += n;
        self
    }

    fn simple(cookie: u64, error: u32) -> Self {
        Self::new()
            .put(&SIMPLE_REPLY_MAGIC.to_be_bytes())
            .put(&error.to_be_bytes())
            .put(&cookie.to_be_bytes())
    }

    /// A chunk; the last one of its reply has `NBD_REPLY_FLAG_DONE`.
    fn chunk(cookie: u64, kind: u16, len: u32, last: bool) -> Self {
        Self::new()
            .put(&STRUCTURED_REPLY_MAGIC.to_be_bytes())
            .put(&u16::from(last).to_be_bytes())
            .put(&kind.to_be_bytes())
            .put(&cookie.to_be_bytes())
            .put(&len.to_be_bytes())
    }

    /// Done, nothing to tell. Simple whatever was negotiated: that is allowed for all but reads.
    pub(crate) fn done(cookie: u64) -> Self {
        Self::simple(cookie, 0)
    }

    /// Comes before the data of a successful read.
    pub(crate) fn data(request: &Request, structured: bool) -> Self {
        if !structured {
            return Self::simple(request.cookie, 0);
        }
        match request.len {
            // NBD_REPLY_TYPE_NONE: a data chunk must hold a byte.
            0 => Self::chunk(request.cookie, 0, 0, true),
            len => Self::part(request.cookie, request.offset, len, true),
        }
    }

    /// `NBD_REPLY_TYPE_OFFSET_DATA`: comes before a part of a read's data.
    pub(crate) fn part(cookie: u64, offset: u64, len: u32, last: bool) -> Self {
        Self::chunk(cookie, 1, 8 + len, last).put(&offset.to_be_bytes())
    }

    /// `NBD_REPLY_TYPE_OFFSET_HOLE`: stands for a part that is all zeros.
    pub(crate) fn hole(cookie: u64, offset: u64, len: u32, last: bool) -> Self {
        Self::chunk(cookie, 2, 12, last).put(&offset.to_be_bytes()).put(&len.to_be_bytes())
    }

    /// `NBD_REPLY_TYPE_BLOCK_STATUS`: comes before that many bytes of an answer.
    pub(crate) fn block_status(cookie: u64, len: usize) -> Self {
        Self::chunk(cookie, 5, len as u32, true)
    }

    /// It failed; `NBD_REPLY_TYPE_ERROR` with words for a person where structured.
    pub(crate) fn refusal(cookie: u64, refusal: Refusal, structured: bool) -> Self {
        if !structured {
            return Self::simple(cookie, refusal as u32);
        }
        let message = refusal.message().as_bytes();
        Self::chunk(cookie, (1 << 15) + 1, 6 + message.len() as u32, true)
            .put(&(refusal as u32).to_be_bytes())
            .put(&(message.len() as u16).to_be_bytes())
            .put(message)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_fits_its_head() {
        use Refusal::{Invalid, Io, NoMemory, NoSpace, NotPermitted, NotSupported, ShuttingDown, TooLarge};
        for refusal in [NotPermitted, Io, NoMemory, Invalid, NoSpace, TooLarge, NotSupported, ShuttingDown] {
            let head = ReplyHead::refusal(7, refusal, true);
            assert_eq!(head.as_bytes().len(), 26 + refusal.message().len());
            assert!(head.as_bytes().ends_with(refusal.message().as_bytes()));
        }
    }

    #[test]
    fn export_queries_that_lie_about_their_lengths_are_invalid() {
        let mut good = vec![0, 0, 0, 2, b'h', b'i', 0, 2, 0, 1, 0, 3];
        let query = ExportQuery { name: b"hi", wants_name: true };
        assert_eq!(ClientOption::parse(7, &good), ClientOption::Go(query));
        for cut in 0..good.len() {
            assert_eq!(ClientOption::parse(7, &good[..cut]), ClientOption::Invalid, "cut at {cut}");
        }
        good.push(0);
        assert_eq!(ClientOption::parse(6, &good), ClientOption::Invalid);
        good[0] = 0xff;
        assert_eq!(ClientOption::parse(6, &good), ClientOption::Invalid);
    }

    #[test]
    fn requests_are_checked_against_the_volume() {
        let request = |command, flags, offset, len| Request { flags, command, cookie: 1, offset, len };
        let all = Agreed { structured: true, allocation: true };
        let check = |r: Request| r.check(1 << 20, false, all);
        assert_eq!(check(request(Command::Read, CMD_FLAG_DF, 0, 1 << 20)), Ok(()));
        assert_eq!(check(request(Command::Read, 0, 1, 1 << 20)), Err(Refusal::Invalid));
        assert_eq!(check(request(Command::Read, 0, u64::MAX, 2)), Err(Refusal::Invalid));
        assert_eq!(check(request(Command::Write, 0, 1 << 20, 1)), Err(Refusal::NoSpace));
        assert_eq!(check(request(Command::Write, CMD_FLAG_DF, 0, 1)), Err(Refusal::Invalid));
        assert_eq!(check(request(Command::Read, 0, 0, MAX_REQUEST + 1)), Err(Refusal::TooLarge));
        assert_eq!(check(request(Command::Unknown, 0, 0, 0)), Err(Refusal::Invalid));
        let fast = request(Command::WriteZeroes, CMD_FLAG_FAST_ZERO | CMD_FLAG_NO_HOLE, 0, 4096);
        assert_eq!(check(fast), Err(Refusal::NotSupported));
        let write = request(Command::Write, 0, 0, 1);
        assert_eq!(write.check(1 << 20, true, Agreed::default()), Err(Refusal::NotPermitted));
        let status = request(Command::BlockStatus, CMD_FLAG_REQ_ONE, 0, 4096);
        assert_eq!(check(status), Ok(()));
        assert_eq!(
            status.check(1 << 20, false, Agreed { structured: true, allocation: false }),
            Err(Refusal::Invalid)
        );
        assert_eq!(check(request(Command::BlockStatus, 0, 0, 0)), Err(Refusal::Invalid));
        assert_eq!(
            request(Command::Read, CMD_FLAG_DF, 0, 1).check(1 << 20, true, Agreed::default()),
            Err(Refusal::Invalid)
        );
    }
}

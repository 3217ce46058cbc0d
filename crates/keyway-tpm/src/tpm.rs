//! The commands: each method sends one and reads its answer (Part 3).

use crate::address::Address;
use crate::constants::*;
use crate::crypt::{DIGEST, sha256};
use crate::error::{BadResponse, TpmError, Unfit};
use crate::lockout::Lockout;
use crate::object::{LARGEST_PART, SealedObject, StorageKey, ecc_point, selection};
use crate::pcr::Pcrs;
use crate::response_code::ResponseCode;
use crate::session::{NONCE, Salt, Session};
use crate::transport::{self, LARGEST_MESSAGE, Transport};
use crate::wire::{Reader, Writer};
use std::time::{Duration, Instant};

/// A TPM 2.0.
pub struct Tpm {
    transport: Box<dyn Transport>,
}

/// A command on its way out.
pub(crate) struct Request<'a> {
    pub(crate) command: Command,
    pub(crate) handles: &'a [u32],
    /// The authorization area, for a command that has one.
    pub(crate) authorization: Option<&'a [u8]>,
    pub(crate) parameters: &'a [u8],
    /// Whether the answer begins with a handle.
    pub(crate) gives_handle: bool,
}

/// Its answer, taken apart.
pub(crate) struct Reply {
    handle: Option<u32>,
    pub(crate) parameters: Vec<u8>,
    /// The authorization area; empty for a command that has none.
    pub(crate) authorization: Vec<u8>,
}

/// A key or object in the TPM that must be flushed when it is done with.
#[derive(Clone)]
pub(crate) struct Loaded {
    pub(crate) handle: u32,
    pub(crate) name: Vec<u8>,
    transient: bool,
}

/// How long a TPM may be busy with itself (a self test, its flash memory) before we give up.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause before a command is sent again.
const PAUSE: Duration = Duration::from_millis(20);

impl Tpm {
    /// Opens the TPM at an address.
    ///
    /// # Errors
    /// [`TpmError::NoTpm`], [`TpmError::NotPermitted`] or [`TpmError::Busy`].
    pub fn open(address: &Address) -> Result<Self, TpmError> {
        transport::open(address).map(Self::over)
    }

    /// A TPM behind a wire of the caller's own.
    pub fn over(transport: Box<dyn Transport>) -> Self {
        Self { transport }
    }

    /// Sends a command and takes its answer apart; waits where the TPM asks for that.
    pub(crate) fn call(&mut self, request: &Request<'_>) -> Result<Reply, TpmError> {
        let command = request.command.name();
        let bytes = frame(request);
        let started = Instant::now();
        loop {
            let answer = self.transport.exchange(&bytes).map_err(TpmError::Transport)?;
            match unframe(request, &answer).map_err(|fault| TpmError::BadResponse { command, fault })? {
                Ok(reply) => return Ok(reply),
                Err(code) if code.is_passing() && started.elapsed() < PATIENCE => {
                    std::thread::sleep(PAUSE);
                }
                Err(code) => return Err(TpmError::Refused { command, code }),
            }
        }
    }

    /// A command whose answer is read by `read`, to its end.
    fn ask<T>(
        &mut self,
        request: &Request<'_>,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T, BadResponse>,
    ) -> Result<T, TpmError> {
        let reply = self.call(request)?;
        let mut reader = Reader::new(&reply.parameters);
        read(&mut reader)
            .and_then(|value| reader.end().map(|()| value))
            .map_err(|fault| TpmError::BadResponse { command: request.command.name(), fault })
    }

    /// SHA-256 of the registers' values strung together, lowest register first: what a policy
    /// compares.
    ///
    /// # Errors
    /// [`Unfit::NoSha256Bank`] where the TPM does not keep them, and what any command can return.
    pub fn pcr_digest(&mut self, pcrs: Pcrs) -> Result<[u8; DIGEST], TpmError> {
        let mut values = Vec::new();
        let mut missing = pcrs;
        // A TPM gives at most eight values at a time.
        while !missing.is_empty() {
            let (given, mut some) = self.pcr_read(missing)?;
            if given.is_empty() || !missing.contains_all(given) {
                return Err(Unfit::NoSha256Bank(missing).into());
            }
            values.append(&mut some);
            missing = missing.without(given);
        }
        // Each batch is of the lowest registers that were still missing, so the order is right.
        Ok(sha256(&values.iter().map(|value| &value[..]).collect::<Vec<_>>()))
    }

    fn pcr_read(&mut self, pcrs: Pcrs) -> Result<(Pcrs, Vec<[u8; DIGEST]>), TpmError> {
        let selection = selection(pcrs);
        let request = Request::plain(Command::PcrRead, &[], &selection);
        self.ask(&request, |reader| {
            let _update_counter = reader.u32()?;
            let mut given = 0;
            for _ in 0..reader.u32()? {
                let bank = reader.u16()?;
                let length = usize::from(reader.u8()?);
                let bits = reader.take(length)?;
                if bank == ALG_SHA256 {
                    given = bits.iter().take(4).rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
                }
            }
            let given = Pcrs::from_bitmap(given).ok_or(BadResponse::OffTopic)?;
            let values: Vec<[u8; DIGEST]> = (0..reader.u32()?)
                .map(|_| reader.sized(DIGEST)?.try_into().map_err(|_| BadResponse::OffTopic))
                .collect::<Result<_, _>>()?;
            if values.len() != given.iter().count() {
                return Err(BadResponse::OffTopic);
            }
            Ok((given, values))
        })
    }

    /// Adds a measurement to a register of the SHA-256 bank, as firmware does at start-up. It stays
    /// until the machine starts anew.
    pub fn pcr_extend(&mut self, register: u8, measurement: &[u8; DIGEST]) -> Result<(), TpmError> {
        let parameters = Writer::default().u32(1).u16(ALG_SHA256).bytes(measurement).done();
        let request = Request {
            command: Command::PcrExtend,
            handles: &[register.into()],
            authorization: Some(&password()),
            parameters: &parameters,
            gives_handle: false,
        };
        self.ask(&request, |_| Ok(()))
    }

    /// How often an authorization may still be wrong.
    pub fn lockout(&mut self) -> Result<Lockout, TpmError> {
        /// Properties that a [`Lockout`] is made of.
        const PROPERTIES: u32 = 4;
        let parameters =
            Writer::default().u32(CAPABILITY_PROPERTIES).u32(PROPERTY_LOCKOUT_COUNTER).u32(PROPERTIES).done();
        let request = Request::plain(Command::GetCapability, &[], &parameters);
        self.ask(&request, |reader| {
            let _more = reader.u8()?;
            if reader.u32()? != CAPABILITY_PROPERTIES || reader.u32()? != PROPERTIES {
                return Err(BadResponse::OffTopic);
            }
            let mut property = |number| {
                if reader.u32()? != PROPERTY_LOCKOUT_COUNTER + number {
                    return Err(BadResponse::OffTopic);
                }
                reader.u32()
            };
            Ok(Lockout {
                failures: property(0)?,
                limit: property(1)?,
                forgets_one_after: Duration::from_secs(property(2)?.into()),
                recovers_after: Duration::from_secs(property(3)?.into()),
            })
        })
    }

    /// The storage root key where provisioning puts it, or `None` where nothing is there.
    pub(crate) fn storage_root_key(&mut self) -> Result<Option<Loaded>, TpmError> {
        let handle = HANDLE_STORAGE_ROOT_KEY;
        let name = self.ask(&Request::plain(Command::ReadPublic, &[handle], &[]), |reader| {
            let _public = reader.sized(LARGEST_PART)?;
            let name = reader.sized(LARGEST_PART)?.to_vec();
            let _qualified_name = reader.sized(LARGEST_PART)?;
            Ok(name)
        });
        match name {
            Ok(name) => Ok(Some(Loaded { handle, name, transient: false })),
            Err(TpmError::Refused { code, .. }) if code.kind() == ResponseCode::HANDLE => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Makes the storage key that a hierarchy's seed gives for a template: always the same until
    /// the TPM is cleared, or started anew in the case of the null hierarchy.
    pub(crate) fn create_primary(
        &mut self,
        hierarchy: u32,
        kind: StorageKey,
    ) -> Result<(Loaded, Vec<u8>), TpmError> {
        // No authorization value, no data; no information from outside; no registers.
        let parameters = Writer::default().sized(&[0; 4]).sized(&kind.template()).sized(&[]).u32(0).done();
        let request = Request {
            command: Command::CreatePrimary,
            handles: &[hierarchy],
            authorization: Some(&password()),
            parameters: &parameters,
            gives_handle: true,
        };
        let reply = self.call(&request)?;
        let handle = reply.handle.unwrap_or_default();
        let mut reader = Reader::new(&reply.parameters);
        let parts = (|| {
            let public = reader.sized(LARGEST_PART)?.to_vec();
            let _creation_data = reader.sized(LARGEST_PART)?;
            let _creation_hash = reader.sized(LARGEST_PART)?;
            // TPMT_TK_CREATION: tag, hierarchy, digest.
            let _ticket = (reader.u16()?, reader.u32()?, reader.sized(LARGEST_PART)?);
            let name = reader.sized(LARGEST_PART)?.to_vec();
            reader.end()?;
            Ok((public, name))
        })();
        match parts {
            Ok((public, name)) => Ok((Loaded { handle, name, transient: true }, public)),
            Err(fault) => {
                self.flush(handle);
                Err(TpmError::BadResponse { command: request.command.name(), fault })
            }
        }
    }

    /// Begins a session that is salted by a key of the TPM's null hierarchy.
    pub(crate) fn start_session(&mut self, kind: u8) -> Result<Session, TpmError> {
        let (key, public) = self.create_primary(HANDLE_NULL, StorageKey::EccP256)?;
        let session = self.start_session_with(kind, &key, &public);
        self.release(key);
        session
    }

    fn start_session_with(&mut self, kind: u8, key: &Loaded, public: &[u8]) -> Result<Session, TpmError> {
        let (x, y) = ecc_point(public)
            .map_err(|fault| TpmError::BadResponse { command: Command::CreatePrimary.name(), fault })?;
        let salt = Salt::agree(x, y)?;
        let mut nonce_caller = [0; NONCE];
        getrandom::fill(&mut nonce_caller)?;
        let parameters = Writer::default()
            .sized(&nonce_caller)
            .sized(&salt.sent)
            .u8(kind)
            .u16(ALG_AES)
            .u16(128)
            .u16(ALG_CFB)
            .u16(ALG_SHA256)
            .done();
        let request = Request {
            command: Command::StartAuthSession,
            handles: &[key.handle, HANDLE_NULL],
            authorization: None,
            parameters: &parameters,
            gives_handle: true,
        };
        let reply = self.call(&request)?;
        let handle = reply.handle.unwrap_or_default();
        let mut reader = Reader::new(&reply.parameters);
        let nonce_tpm = (|| {
            let nonce = reader.sized(NONCE)?.to_vec();
            reader.end()?;
            Ok(nonce)
        })();
        match nonce_tpm {
            Ok(nonce_tpm) => Ok(Session::new(handle, &salt, nonce_tpm, &nonce_caller)),
            Err(fault) => {
                self.flush(handle);
                Err(TpmError::BadResponse { command: request.command.name(), fault })
            }
        }
    }

    /// Loads a sealed object under its parent.
    pub(crate) fn load(&mut self, parent: &Loaded, object: &SealedObject) -> Result<Loaded, TpmError> {
        let parameters = Writer::default().sized(&object.private).sized(&object.public).done();
        let request = Request {
            command: Command::Load,
            handles: &[parent.handle],
            authorization: Some(&password()),
            parameters: &parameters,
            gives_handle: true,
        };
        // The name that comes back is the one that we compute ourselves; ours is what counts.
        let handle = self.call(&request)?.handle.unwrap_or_default();
        Ok(Loaded { handle, name: crate::object::name(&object.public), transient: true })
    }

    /// Demands the object's authorization value of whoever uses the session.
    pub(crate) fn policy_auth_value(&mut self, session: &Session) -> Result<(), TpmError> {
        self.ask(&Request::plain(Command::PolicyAuthValue, &[session.handle()], &[]), |_| Ok(()))
    }

    /// Demands of the session that registers have values with this digest.
    pub(crate) fn policy_pcr(
        &mut self,
        session: &Session,
        pcrs: Pcrs,
        digest: &[u8; DIGEST],
    ) -> Result<(), TpmError> {
        let parameters = Writer::default().sized(digest).bytes(&selection(pcrs)).done();
        self.ask(&Request::plain(Command::PolicyPcr, &[session.handle()], &parameters), |_| Ok(()))
    }

    /// Throws something out of the TPM. What can't be thrown out is the kernel's to clean up.
    pub(crate) fn flush(&mut self, handle: u32) {
        let _ = self.call(&Request::plain(Command::FlushContext, &[handle], &[]));
    }

    /// Done with a key or object.
    pub(crate) fn release(&mut self, loaded: Loaded) {
        if loaded.transient {
            self.flush(loaded.handle);
        }
    }
}

impl<'a> Request<'a> {
    /// A command without authorization whose answer has no handle.
    fn plain(command: Command, handles: &'a [u32], parameters: &'a [u8]) -> Self {
        Self { command, handles, authorization: None, parameters, gives_handle: false }
    }
}

/// The authorization area of an empty password: keys that protect others usually have none.
fn password() -> Vec<u8> {
    Writer::default().u32(HANDLE_PASSWORD).sized(&[]).u8(0).sized(&[]).done()
}

/// Header, handles, authorization, parameters (Part 1, clause 18.4).
fn frame(request: &Request<'_>) -> Vec<u8> {
    let handles: Vec<u8> = request.handles.iter().flat_map(|handle| handle.to_be_bytes()).collect();
    let area_length = |area: &[u8]| u32::try_from(area.len()).unwrap_or(u32::MAX);
    let (tag, area) = match request.authorization {
        Some(area) => (TAG_SESSIONS, Writer::default().u32(area_length(area)).bytes(area).done()),
        None => (TAG_NO_SESSIONS, Vec::new()),
    };
    /// Tag, size and command code.
    const HEADER: usize = 10;
    let size = HEADER + handles.len() + area.len() + request.parameters.len();
    Writer::default()
        .u16(tag)
        .u32(u32::try_from(size).unwrap_or(u32::MAX))
        .u32(request.command.code())
        .bytes(&handles)
        .bytes(&area)
        .bytes(request.parameters)
        .done()
}

/// Takes an answer apart: the inner result is what the TPM says.
fn unframe(request: &Request<'_>, answer: &[u8]) -> Result<Result<Reply, ResponseCode>, BadResponse> {
    let mut reader = Reader::new(answer);
    let (tag, said, code) = (reader.u16()?, reader.u32()?, ResponseCode(reader.u32()?));
    if tag != TAG_SESSIONS && tag != TAG_NO_SESSIONS {
        return Err(BadResponse::UnknownTag(tag));
    }
    let said = usize::try_from(said).unwrap_or(usize::MAX);
    if said != answer.len() || answer.len() > LARGEST_MESSAGE {
        return Err(BadResponse::WrongSize { said, actual: answer.len() });
    }
    if code != ResponseCode::SUCCESS {
        return Ok(Err(code));
    }
    if (tag == TAG_SESSIONS) != request.authorization.is_some() {
        return Err(BadResponse::OffTopic);
    }
    let handle = if request.gives_handle { Some(reader.u32()?) } else { None };
    let (parameters, authorization) = if tag == TAG_SESSIONS {
        let length = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
        (reader.take(length)?, reader.rest())
    } else {
        (reader.rest(), &[][..])
    };
    Ok(Ok(Reply { handle, parameters: parameters.to_vec(), authorization: authorization.to_vec() }))
}

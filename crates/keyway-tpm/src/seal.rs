//! Sealing and unsealing: the commands in their order, and their refusals in the words of the user.

use crate::constants::*;
use crate::error::{BadResponse, TpmError, Unfit};
use crate::object::{
    LARGEST_AUTHORIZATION, LARGEST_PART, LARGEST_SECRET, SealedObject, StorageKey, check_sealed, policy,
    sealed_template,
};
use crate::pcr::Pcrs;
use crate::response_code::ResponseCode;
use crate::session::{Parameters, Session, sized_length};
use crate::tpm::{Loaded, Request, Tpm};
use crate::wire::{Reader, Writer};
use keyway_secret::SecretBytes;

impl Tpm {
    /// Seals a secret to the values that `pcrs` have now, and to an authorization value where one
    /// is given: with one, the TPM counts the wrong ones and locks itself after some.
    ///
    /// The parent is the storage root key at its usual place, or the key that Windows would put
    /// there; nothing is left in the TPM.
    ///
    /// # Errors
    /// [`TpmError::OwnerPassword`] where that key is guarded, [`TpmError::Unfit`], and what any
    /// command can return.
    pub fn seal(
        &mut self,
        secret: &SecretBytes,
        authorization: Option<&SecretBytes>,
        pcrs: Pcrs,
    ) -> Result<SealedObject, TpmError> {
        if secret.len() > LARGEST_SECRET {
            return Err(Unfit::SecretTooLong { length: secret.len(), limit: LARGEST_SECRET }.into());
        }
        check_authorization(authorization)?;
        let pcr_digest = self.pcr_digest(pcrs)?;
        let parent = match self.storage_root_key()? {
            Some(key) => key,
            None => self.storage_key(StorageKey::Rsa2048)?,
        };
        let made = self.start_session(SESSION_HMAC).and_then(|session| {
            let template = sealed_template(&policy(pcrs, &pcr_digest), authorization.is_some());
            let made = self.create(&session, &parent, secret, authorization, &template);
            if made.is_err() {
                self.flush(session.handle());
            }
            made
        });
        self.release(parent);
        let (private, public) = made?;
        Ok(SealedObject { private, public, pcrs, pcr_digest })
    }

    /// `TPM2_Create` with its secret parameter encrypted. The session ends with it.
    fn create(
        &mut self,
        session: &Session,
        parent: &Loaded,
        secret: &SecretBytes,
        authorization: Option<&SecretBytes>,
        template: &[u8],
    ) -> Result<(Vec<u8>, Vec<u8>), TpmError> {
        let mut sensitive = sensitive(authorization.map_or(&[], |value| value), secret);
        // The template; no information from outside; no registers.
        let others = Writer::default().sized(template).sized(&[]).u32(0).done();
        let exchange = session.authorize(
            Command::Create,
            &parent.name,
            &[],
            SESSION_DECRYPT,
            Parameters { secret: &mut sensitive, others: &others },
        )?;
        // Encrypted by now.
        let parameters =
            Writer::default().bytes(&sized_length(&sensitive)).bytes(&sensitive).bytes(&others).done();
        let reply = self
            .call(&Request {
                command: Command::Create,
                handles: &[parent.handle],
                authorization: Some(&exchange.area),
                parameters: &parameters,
                gives_handle: false,
            })
            .map_err(owner_password)?;
        exchange.accept(&reply.parameters, &reply.authorization)?;
        let mut reader = Reader::new(&reply.parameters);
        (|| Ok((reader.sized(LARGEST_PART)?.to_vec(), reader.sized(LARGEST_PART)?.to_vec())))()
            .map_err(|fault| TpmError::BadResponse { command: Command::Create.name(), fault })
    }

    /// Gives back what was sealed.
    ///
    /// # Errors
    /// [`TpmError::MeasurementsChanged`], [`TpmError::WrongAuthorization`] with the tries that are
    /// left, [`TpmError::LockedOut`], [`TpmError::NotThisTpm`], [`TpmError::Unfit`] for an object
    /// that this client does not understand, and what any command can return.
    pub fn unseal(
        &mut self,
        object: &SealedObject,
        authorization: Option<&SecretBytes>,
    ) -> Result<SecretBytes, TpmError> {
        check_sealed(object)?;
        check_authorization(authorization)?;
        let loaded = self.load_under_any_parent(object)?;
        let unsealed = self.start_session(SESSION_POLICY).and_then(|session| {
            let unsealed = self.unseal_loaded(&session, &loaded, object, authorization);
            if unsealed.is_err() {
                self.flush(session.handle());
            }
            unsealed
        });
        self.release(loaded);
        unsealed
    }

    fn load_under_any_parent(&mut self, object: &SealedObject) -> Result<Loaded, TpmError> {
        if let Some(key) = self.storage_root_key()?
            && let Some(loaded) = self.load_under(key, object)?
        {
            return Ok(loaded);
        }
        // Nothing there, or another program's key took the place: the key can be made again.
        for kind in [StorageKey::Rsa2048, StorageKey::EccP256] {
            let key = self.storage_key(kind)?;
            if let Some(loaded) = self.load_under(key, object)? {
                return Ok(loaded);
            }
        }
        Err(TpmError::NotThisTpm)
    }

    /// `None` where this parent did not protect the object.
    fn load_under(&mut self, parent: Loaded, object: &SealedObject) -> Result<Option<Loaded>, TpmError> {
        let loaded = self.load(&parent, object);
        self.release(parent);
        match loaded {
            Ok(loaded) => Ok(Some(loaded)),
            Err(TpmError::Refused { code, .. })
                if matches!(
                    code.kind(),
                    ResponseCode::INTEGRITY | ResponseCode::SIZE | ResponseCode::INSUFFICIENT
                ) =>
            {
                Ok(None)
            }
            Err(e) => Err(owner_password(e)),
        }
    }

    fn storage_key(&mut self, kind: StorageKey) -> Result<Loaded, TpmError> {
        self.create_primary(HANDLE_OWNER, kind).map(|(key, _)| key).map_err(owner_password)
    }

    /// The policy's two conditions, then `TPM2_Unseal` with its answer encrypted.
    fn unseal_loaded(
        &mut self,
        session: &Session,
        loaded: &Loaded,
        object: &SealedObject,
        authorization: Option<&SecretBytes>,
    ) -> Result<SecretBytes, TpmError> {
        let pcrs = object.pcrs;
        self.policy_auth_value(session)?;
        // The TPM compares here already, before an authorization value can be wrong and counted.
        self.policy_pcr(session, pcrs, &object.pcr_digest).map_err(|e| changed(e, pcrs))?;
        let exchange = session.authorize(
            Command::Unseal,
            &loaded.name,
            authorization.map_or(&[], |value| value),
            SESSION_ENCRYPT,
            Parameters { secret: &mut [], others: &[] },
        )?;
        let reply = self
            .call(&Request {
                command: Command::Unseal,
                handles: &[loaded.handle],
                authorization: Some(&exchange.area),
                parameters: &[],
                gives_handle: false,
            })
            .map_err(|e| self.unseal_refusal(e, pcrs))?;
        let answer = exchange.accept(&reply.parameters, &reply.authorization)?;
        let mut reader = Reader::new(&reply.parameters);
        (|| {
            let content = reader.sized(LARGEST_SECRET)?;
            reader.end()?;
            Ok(answer.decrypt(content))
        })()
        .map_err(|fault: BadResponse| TpmError::BadResponse { command: Command::Unseal.name(), fault })
    }

    fn unseal_refusal(&mut self, error: TpmError, pcrs: Pcrs) -> TpmError {
        let TpmError::Refused { code, .. } = &error else { return error };
        match code.kind() {
            ResponseCode::AUTH_FAIL | ResponseCode::BAD_AUTH => {
                TpmError::WrongAuthorization { lockout: self.lockout().ok() }
            }
            ResponseCode::LOCKOUT => TpmError::LockedOut { lockout: self.lockout().ok() },
            _ => changed(error, pcrs),
        }
    }
}

/// `TPMS_SENSITIVE_CREATE` (Part 2, clause 11.1.15): the authorization value and the secret.
fn sensitive(authorization: &[u8], secret: &SecretBytes) -> SecretBytes {
    let mut bytes = SecretBytes::zeroed(2 + authorization.len() + 2 + secret.len());
    let (first, second) = bytes.split_at_mut(2 + authorization.len());
    for (to, content) in [(first, authorization), (second, secret)] {
        let (length, room) = to.split_at_mut(2);
        length.copy_from_slice(&sized_length(content));
        room.copy_from_slice(content);
    }
    bytes
}

fn check_authorization(authorization: Option<&SecretBytes>) -> Result<(), TpmError> {
    match authorization.map_or(0, |value| value.len()) {
        0..=LARGEST_AUTHORIZATION => Ok(()),
        length => Err(Unfit::AuthorizationTooLong { length, limit: LARGEST_AUTHORIZATION }.into()),
    }
}

/// A refusal for the registers' sake in its own words.
fn changed(error: TpmError, pcrs: Pcrs) -> TpmError {
    match &error {
        TpmError::Refused { code, .. }
            if matches!(
                code.kind(),
                ResponseCode::VALUE | ResponseCode::PCR_CHANGED | ResponseCode::POLICY_FAIL
            ) =>
        {
            TpmError::MeasurementsChanged { pcrs }
        }
        _ => error,
    }
}

/// A refused empty password of a key or hierarchy in its own words.
fn owner_password(error: TpmError) -> TpmError {
    match &error {
        TpmError::Refused { code, .. }
            if matches!(code.kind(), ResponseCode::AUTH_FAIL | ResponseCode::BAD_AUTH) =>
        {
            TpmError::OwnerPassword
        }
        _ => error,
    }
}

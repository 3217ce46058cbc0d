//! The numbers of the TPM 2.0 library specification that this client uses, with their clauses.

use keyway_error::enum_table;

enum_table! {
    /// Command codes (Part 2, clause 6.5.2).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Command {
        /// Makes a key from a hierarchy's seed.
        CreatePrimary(0x131, "TPM2_CreatePrimary"),
        /// Makes an object under a storage key.
        Create(0x153, "TPM2_Create"),
        /// Brings an object into the TPM.
        Load(0x157, "TPM2_Load"),
        /// Gives out what an object seals.
        Unseal(0x15E, "TPM2_Unseal"),
        /// Throws a loaded object or session out.
        FlushContext(0x165, "TPM2_FlushContext"),
        /// Adds "the object's authorization value is needed" to a policy.
        PolicyAuthValue(0x16B, "TPM2_PolicyAuthValue"),
        /// The public part of a loaded or persistent object.
        ReadPublic(0x173, "TPM2_ReadPublic"),
        /// Begins a session.
        StartAuthSession(0x176, "TPM2_StartAuthSession"),
        /// What the TPM can do and which state it is in.
        GetCapability(0x17A, "TPM2_GetCapability"),
        /// Values of platform configuration registers.
        PcrRead(0x17E, "TPM2_PCR_Read"),
        /// Adds "these registers have these values" to a policy.
        PolicyPcr(0x17F, "TPM2_PolicyPCR"),
        /// Adds a measurement to a register.
        PcrExtend(0x182, "TPM2_PCR_Extend"),
    }
    /// Its number.
    pub(crate) code: u32,
    /// The name in the specification.
    pub(crate) name: &'static str,
}

/// Structure tags (Part 2, clause 6.9).
pub(crate) const TAG_NO_SESSIONS: u16 = 0x8001;
pub(crate) const TAG_SESSIONS: u16 = 0x8002;

/// Algorithm identifiers (Part 2, clause 6.3).
pub(crate) const ALG_RSA: u16 = 0x0001;
pub(crate) const ALG_AES: u16 = 0x0006;
pub(crate) const ALG_KEYEDHASH: u16 = 0x0008;
pub(crate) const ALG_SHA256: u16 = 0x000B;
pub(crate) const ALG_NULL: u16 = 0x0010;
pub(crate) const ALG_ECC: u16 = 0x0023;
pub(crate) const ALG_CFB: u16 = 0x0043;

/// The curve NIST P-256 (Part 2, clause 6.4).
pub(crate) const CURVE_P256: u16 = 0x0003;

/// Permanent handles (Part 2, clause 7.4).
pub(crate) const HANDLE_OWNER: u32 = 0x4000_0001;
pub(crate) const HANDLE_NULL: u32 = 0x4000_0007;
/// The "session" of a plain password, which has no state (`TPM_RS_PW`).
pub(crate) const HANDLE_PASSWORD: u32 = 0x4000_0009;
/// Where provisioning puts the storage root key (*TCG TPM v2.0 Provisioning Guidance*, 7.5.1);
/// BitLocker loads its objects under this handle.
pub(crate) const HANDLE_STORAGE_ROOT_KEY: u32 = 0x8100_0001;

/// Session types (Part 2, clause 6.11).
pub(crate) const SESSION_HMAC: u8 = 0x00;
pub(crate) const SESSION_POLICY: u8 = 0x01;

/// Session attributes (Part 2, clause 8.4): the first parameter of the command is encrypted.
pub(crate) const SESSION_DECRYPT: u8 = 1 << 5;
/// Session attributes (Part 2, clause 8.4): the first parameter of the answer is to be encrypted.
pub(crate) const SESSION_ENCRYPT: u8 = 1 << 6;

/// Object attributes (Part 2, clause 8.3).
pub(crate) const OBJECT_FIXED_TPM: u32 = 1 << 1;
pub(crate) const OBJECT_FIXED_PARENT: u32 = 1 << 4;
pub(crate) const OBJECT_SENSITIVE_DATA_ORIGIN: u32 = 1 << 5;
pub(crate) const OBJECT_USER_WITH_AUTH: u32 = 1 << 6;
pub(crate) const OBJECT_NO_DICTIONARY_ATTACK: u32 = 1 << 10;
pub(crate) const OBJECT_RESTRICTED: u32 = 1 << 16;
pub(crate) const OBJECT_DECRYPT: u32 = 1 << 17;

/// The capability "properties of the TPM" (Part 2, clause 6.12).
pub(crate) const CAPABILITY_PROPERTIES: u32 = 0x0000_0006;
/// Wrong authorizations counted so far; the three properties after it are the limit, the seconds
/// until one is forgotten and the seconds a lockout lasts (Part 2, clause 6.13).
pub(crate) const PROPERTY_LOCKOUT_COUNTER: u32 = 0x0000_020E;

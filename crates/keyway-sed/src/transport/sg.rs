//! Security commands over SCSI's generic interface: SCSI drives, ATA drives behind libata, and ATA
//! drives behind bridges.

use super::ata::{self, Form};
use super::identity::Identity;
use super::scsi::{self, ILLEGAL_REQUEST, SERIAL_PAGE, Sense, UNIT_ATTENTION};
use super::security::{NoSecurity, Refusal, SecurityTransport, TransportError};
use super::system::sorted;
use crate::protocols;
use keyway_sys::{ScsiData, ScsiDone, scsi_command};
use rustix::io::Errno;
use std::fs::File;

/// SCSI status CHECK CONDITION: there is sense data.
const CHECK_CONDITION: u8 = 2;
/// How many things in a row may have happened to a device before a command: it tells them one by one.
const MOST_ATTENTIONS: u32 = 4;
/// The kernel's DID_TIME_OUT.
const TIME_OUT: u16 = 3;
/// The vendor that libata and other translators put in front of an ATA drive's model.
const ATA_VENDOR: &[u8] = b"ATA     ";

/// Runs SCSI commands: the kernel's interface, or a test's.
pub trait ScsiPort {
    /// Runs one command.
    ///
    /// # Errors
    /// Where it did not reach the device; a command that the device refused is no error.
    fn run(&mut self, cdb: &[u8], data: ScsiData<'_>) -> std::io::Result<ScsiDone>;
}

impl ScsiPort for File {
    fn run(&mut self, cdb: &[u8], data: ScsiData<'_>) -> std::io::Result<ScsiDone> {
        scsi_command(&*self, cdb, data)
    }
}

/// How security commands reach the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandSet {
    /// As SCSI's own commands; libata translates them, whatever `libata.allow_tpm` says.
    Scsi,
    /// As ATA commands passed through.
    Ata(Form),
}

/// A drive behind SCSI's generic interface.
#[derive(Debug)]
pub struct SgTransport<P = File> {
    port: P,
    identity: Identity,
    command_set: CommandSet,
}

impl<P: ScsiPort> SgTransport<P> {
    /// Asks the drive who it is, and finds the way that its security commands take.
    ///
    /// # Errors
    /// [`TransportError::NotADrive`] where this takes no SCSI commands,
    /// [`TransportError::NoSecurityCommands`] where no way leads to security commands.
    pub fn open(mut port: P) -> Result<Self, TransportError> {
        let mut inquiry = [0u8; 96];
        let asked = run(&mut port, &scsi::inquiry(None, 96), ScsiData::FromDevice(&mut inquiry));
        judge(&asked.map_err(no_scsi)?)?;
        let mut page = [0u8; 512];
        let mut ata = None;
        for form in [Form::Sixteen, Form::Twelve] {
            let cdb = ata::identify().cdb(form);
            let done = run(&mut port, &cdb, ScsiData::FromDevice(&mut page))?;
            // A device that takes 16-byte commands may know none of ATA and yet say it is done.
            if judge(&done).is_ok() && page.iter().any(|&b| b != 0) {
                ata = Some(form);
                break;
            }
        }
        let identity = match ata {
            Some(_) => Identity::from_ata(&page),
            None => {
                let mut serial = [0u8; 255];
                let cdb = scsi::inquiry(Some(SERIAL_PAGE), 255);
                let done = run(&mut port, &cdb, ScsiData::FromDevice(&mut serial))?;
                if judge(&done).is_err() {
                    serial = [0; 255];
                }
                Identity::from_scsi(&inquiry, &serial)
            }
        }
        .ok_or(TransportError::NotADrive)?;
        let sets = [Some(CommandSet::Scsi), ata.map(CommandSet::Ata)];
        for command_set in sets.into_iter().flatten() {
            let mut transport = Self { port, identity: identity.clone(), command_set };
            let mut list = [0u8; 512];
            let (protocol, specific) = protocols::LIST;
            match transport.receive(protocol, specific, &mut list) {
                Ok(()) => return Ok(transport),
                Err(TransportError::Refused(_)) => port = transport.port,
                Err(other) => return Err(other),
            }
        }
        Err(TransportError::NoSecurityCommands(match ata {
            Some(_) if !ata::has_trusted(&page) => NoSecurity::Drive,
            Some(_) if inquiry.get(8..16) == Some(ATA_VENDOR) => NoSecurity::Libata,
            Some(_) => NoSecurity::Bridge,
            None => NoSecurity::Drive,
        }))
    }
}

/// What the first command's failure means: a block device that passes no SCSI commands on, as a loop device, calls them an
/// invalid argument.
fn no_scsi(error: TransportError) -> TransportError {
    match error {
        TransportError::Io(e) if Errno::from_io_error(&e) == Some(Errno::INVAL) => TransportError::NotADrive,
        other => other,
    }
}

/// Runs a command, and again where the device had to tell first that something had happened to it, a reset or a loss of
/// power: it did not look at the command then.
fn run<P: ScsiPort>(port: &mut P, cdb: &[u8], mut data: ScsiData<'_>) -> Result<ScsiDone, TransportError> {
    let mut told = 0;
    loop {
        let again = match &mut data {
            ScsiData::None => ScsiData::None,
            ScsiData::ToDevice(bytes) => ScsiData::ToDevice(bytes),
            ScsiData::FromDevice(bytes) => ScsiData::FromDevice(bytes),
        };
        let done = port.run(cdb, again).map_err(sorted)?;
        let attention = done.status == CHECK_CONDITION && Sense::parse(&done.sense).key == UNIT_ATTENTION;
        if !attention || told == MOST_ATTENTIONS {
            return Ok(done);
        }
        told += 1;
    }
}

fn judge(done: &ScsiDone) -> Result<(), TransportError> {
    match (done.host_status, done.status) {
        (0, 0) => Ok(()),
        (TIME_OUT, _) => Err(TransportError::TimedOut),
        (_, CHECK_CONDITION) => {
            let Sense { key, asc, ascq } = Sense::parse(&done.sense);
            // RECOVERED ERROR: it is done, and the device has something to tell.
            if key == 1 { Ok(()) } else { Err(TransportError::Refused(Refusal::Sense { key, asc, ascq })) }
        }
        (0, status) => Err(TransportError::Refused(Refusal::Scsi(status))),
        (host, _) => Err(TransportError::Io(std::io::Error::other(format!("host adapter status {host:#x}")))),
    }
}

/// Data that are no whole number of blocks, or too many.
fn unfit() -> TransportError {
    TransportError::Refused(Refusal::Sense { key: ILLEGAL_REQUEST, asc: 0x24, ascq: 0 })
}

impl<P: ScsiPort> SecurityTransport for SgTransport<P> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn send(&mut self, protocol: u8, com_id: u16, data: &[u8]) -> Result<(), TransportError> {
        let cdb = match self.command_set {
            CommandSet::Scsi => {
                let len = u32::try_from(data.len()).map_err(|_| unfit())?;
                scsi::security_out(protocol, com_id, len).to_vec()
            }
            CommandSet::Ata(form) => {
                ata::trusted_send(protocol, com_id, data.len()).ok_or_else(unfit)?.cdb(form)
            }
        };
        judge(&run(&mut self.port, &cdb, ScsiData::ToDevice(data))?)
    }

    fn receive(&mut self, protocol: u8, com_id: u16, into: &mut [u8]) -> Result<(), TransportError> {
        into.fill(0);
        let cdb = match self.command_set {
            CommandSet::Scsi => {
                let len = u32::try_from(into.len()).map_err(|_| unfit())?;
                scsi::security_in(protocol, com_id, len).to_vec()
            }
            CommandSet::Ata(form) => {
                ata::trusted_receive(protocol, com_id, into.len()).ok_or_else(unfit)?.cdb(form)
            }
        };
        judge(&run(&mut self.port, &cdb, ScsiData::FromDevice(into))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that answers what each opcode is told to.
    #[derive(Default)]
    struct Port {
        vendor: &'static [u8],
        ata: bool,
        trusted: bool,
        passes_trusted: bool,
        scsi_security: bool,
        sixteen: bool,
        /// How many things happened to it that it has not told yet.
        attentions: u32,
        ran: Vec<Vec<u8>>,
    }

    fn illegal() -> ScsiDone {
        ScsiDone { status: 2, host_status: 0, sense: vec![0x72, 5, 0x20, 0, 0, 0, 0, 0] }
    }

    impl ScsiPort for Port {
        fn run(&mut self, cdb: &[u8], data: ScsiData<'_>) -> std::io::Result<ScsiDone> {
            self.ran.push(cdb.to_vec());
            // INQUIRY is carried out all the same.
            if self.attentions > 0 && cdb[0] != 0x12 {
                self.attentions -= 1;
                return Ok(ScsiDone { status: 2, host_status: 0, sense: vec![0x72, 6, 0x29, 0, 0, 0, 0, 0] });
            }
            let good = ScsiDone { status: 0, host_status: 0, sense: Vec::new() };
            let command = match cdb[0] {
                0x85 if self.sixteen => cdb[14],
                0xA1 => cdb[9],
                other => other,
            };
            Ok(match (command, data) {
                (0x12, ScsiData::FromDevice(into)) => {
                    if cdb[1] == 0 {
                        into[8..16].copy_from_slice(self.vendor);
                    } else {
                        into[..8].copy_from_slice(b"\0\x80\0\x04SER1");
                    }
                    good
                }
                (0xEC, ScsiData::FromDevice(into)) if self.ata => {
                    into[97] = 0x40;
                    into[96] = u8::from(self.trusted);
                    good
                }
                (0xA2, _) if self.scsi_security => good,
                (0x5C | 0x5E, _) if self.passes_trusted => good,
                _ => illegal(),
            })
        }
    }

    #[test]
    fn the_way_is_found() {
        let scsi = SgTransport::open(Port { vendor: b"SEAGATE ", scsi_security: true, ..Port::default() });
        let scsi = scsi.expect("a SAS drive");
        assert_eq!((scsi.command_set, scsi.identity().serial.as_str()), (CommandSet::Scsi, "SER1"));
        let ata = Port { vendor: ATA_VENDOR, ata: true, trusted: true, sixteen: true, ..Port::default() };
        let translated =
            SgTransport::open(Port { scsi_security: true, vendor: ATA_VENDOR, ata: true, ..Port::default() });
        assert_eq!(translated.expect("libata translates").command_set, CommandSet::Scsi);
        let mut passed = SgTransport::open(Port { passes_trusted: true, ..ata }).expect("a bridge passes");
        assert_eq!(passed.command_set, CommandSet::Ata(Form::Sixteen));
        passed.send(1, 0x07FE, &[0; 1024]).expect("sent");
        assert_eq!(passed.port.ran.last().map(|cdb| (cdb[14], cdb[6])), Some((0x5E, 2)));
        let twelve =
            Port { vendor: b"JMicron ", ata: true, trusted: true, passes_trusted: true, ..Port::default() };
        assert_eq!(
            SgTransport::open(twelve).expect("a small bridge").command_set,
            CommandSet::Ata(Form::Twelve)
        );
    }

    #[test]
    fn no_way_has_its_reason() {
        let why = |port| match SgTransport::open(port) {
            Err(TransportError::NoSecurityCommands(why)) => why,
            other => panic!("{:?}", other.err()),
        };
        assert_eq!(why(Port { vendor: b"SEAGATE ", ..Port::default() }), NoSecurity::Drive);
        let ata = || Port { vendor: ATA_VENDOR, ata: true, sixteen: true, ..Port::default() };
        assert_eq!(why(ata()), NoSecurity::Drive);
        assert_eq!(why(Port { trusted: true, ..ata() }), NoSecurity::Libata);
        assert_eq!(why(Port { trusted: true, vendor: b"JMicron ", ..ata() }), NoSecurity::Bridge);
    }

    #[test]
    fn what_happened_to_the_device_is_told_first_and_the_command_is_sent_again() {
        let port =
            |attentions| Port { scsi_security: true, vendor: b"SEAGATE ", attentions, ..Port::default() };
        for attentions in 1..=MOST_ATTENTIONS {
            let mut drive = SgTransport::open(port(attentions)).expect("a SAS drive");
            drive.port.attentions = attentions;
            drive.send(1, 0x07FE, &[0; 512]).err();
            assert_eq!(drive.port.attentions, 0);
        }
        let mut deaf = SgTransport::open(port(0)).expect("a SAS drive");
        deaf.port.attentions = u32::MAX;
        let refused = deaf.receive(1, 1, &mut [0; 512]);
        assert!(matches!(refused, Err(TransportError::Refused(Refusal::Sense { key: 6, .. }))));
    }

    #[test]
    fn another_device_is_no_drive() {
        let null = File::open("/dev/null").expect("Linux has it");
        assert!(matches!(SgTransport::open(null), Err(TransportError::NotADrive)));
    }

    /// A loop device passes no command on, and says of each that it is an invalid argument.
    #[test]
    fn what_calls_the_first_command_invalid_is_no_drive() {
        struct Loop(i32);
        impl ScsiPort for Loop {
            fn run(&mut self, _: &[u8], _: ScsiData<'_>) -> std::io::Result<ScsiDone> {
                Err(std::io::Error::from_raw_os_error(self.0))
            }
        }
        assert!(matches!(SgTransport::open(Loop(22)), Err(TransportError::NotADrive)));
        assert!(matches!(SgTransport::open(Loop(5)), Err(TransportError::Io(_))));
    }

    #[test]
    fn ends_are_told_apart() {
        let done =
            |status, host_status, sense: &[u8]| ScsiDone { status, host_status, sense: sense.to_vec() };
        assert!(judge(&done(2, 0, &[0x72, 1, 0, 0x1D])).is_ok());
        assert!(matches!(judge(&done(0, 3, &[])), Err(TransportError::TimedOut)));
        assert!(matches!(judge(&done(0, 7, &[])), Err(TransportError::Io(_))));
        assert!(matches!(judge(&done(0x18, 0, &[])), Err(TransportError::Refused(Refusal::Scsi(0x18)))));
    }
}

//! The end of a volume in an instant: every key of it destroyed.

use crate::confining::Confining;
use crate::detect::must_be_noise;
use crate::disk::{DiskPartition, Part, meant};
use crate::error::Error;
use crate::locked::LockedVolume;
use crate::log_file;
use crate::unlock::Family;
use keyway_attach::path_text;
use keyway_engine::Access;
use keyway_volume::bitlocker;
use keyway_volume::veracrypt::Headers;
use serde::Serialize;
use std::path::PathBuf;

/// A volume whose keys are to be destroyed. Nothing has been written yet.
#[derive(Serialize)]
#[non_exhaustive]
pub struct ErasePlan<'a> {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// Its format's family.
    pub format: Family,
    /// The partition that it is, where a disk was named.
    #[serde(flatten)]
    pub partition: Option<DiskPartition>,
    #[serde(skip)]
    locked: &'a LockedVolume<'a>,
}

/// A volume that nobody opens again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Erased {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// Every key is destroyed.
    pub erased: bool,
}

/// Plans to destroy every key of a volume. A BitLocker volume needs no secret for that, but one that is named must open it;
/// a VeraCrypt or TrueCrypt volume needs one: without it can't be told from any other file.
///
/// # Errors
/// It can't be written, or is plainly no volume.
pub fn erase<'a>(volume: &'a LockedVolume<'a>) -> Result<ErasePlan<'a>, Error> {
    volume.must_be_free(Access::ReadWrite)?;
    let format = volume.family()?;
    if format == Family::VeraCrypt {
        must_be_noise(&volume.path, &volume.arguments)?;
    }
    volume.sources.check()?;
    let partition = match &volume.meant {
        Some(meant) => Some(meant.partition.clone()),
        None => meant(&volume.path, &volume.arguments)?.map(|meant| meant.partition),
    };
    Ok(ErasePlan { volume: volume.path.clone(), format, partition, locked: volume })
}

/// The medium, and the headers that the secret opens, of a volume that can't be told from noise without; of a BitLocker volume there
/// are none, and who names a secret means the volume that it opens.
fn headers(
    volume: &LockedVolume<'_>,
    format: Family,
    confining: &Confining<'_>,
) -> Result<(Part, Option<Headers>), Error> {
    if format == Family::BitLocker {
        let named =
            volume.sources.is_given().then(|| volume.asking(confining).bitlocker_key()).transpose()?;
        let store = volume.to_change()?;
        if let Some(secrets) = named {
            confining.enter_before(&*secrets)?;
            let opened = bitlocker::unlock(&store, &bitlocker::UnlockRequest::new(&secrets));
            opened.map_err(|e| volume.said(e))?;
        }
        return Ok((store, None));
    }
    let secret = volume.asking(confining).veracrypt_key()?;
    let store = volume.to_change()?;
    let drive = volume.system_drive()?;
    confining.enter_before(&secret)?;
    let request = volume.arguments.veracrypt_request(&secret, None, drive.as_ref(), &volume.progress);
    let headers = Headers::find(&store, &request).map_err(|e| volume.said(e))?;
    Ok((store, Some(headers)))
}

impl ErasePlan<'_> {
    /// Looks whether the secret opens it, where one is needed or was named.
    ///
    /// # Errors
    /// It opens nothing.
    pub fn check(&self) -> Result<(), Error> {
        headers(self.locked, self.format, &self.locked.confining()?).map(drop)
    }

    /// Asks for the secret where one is needed, and destroys every key: nobody opens the volume again, but by a backup of its
    /// header.
    ///
    /// # Errors
    /// The secret opens nothing; it can't be written.
    pub fn run(self) -> Result<Erased, Error> {
        let path = self.volume.clone();
        log_file::step("erase", &path, || self.destroy(), |_| "every key is destroyed".to_owned())
    }

    fn destroy(self) -> Result<Erased, Error> {
        let volume = self.locked;
        let confining = volume.confining()?;
        let (store, headers) = headers(volume, self.format, &confining)?;
        confining.enter()?;
        match headers {
            Some(headers) => headers.erase(&store).map_err(|e| volume.said(e))?,
            None => {
                let metadata = bitlocker::Metadata::read(&store).map_err(|e| volume.said(e))?;
                bitlocker::erase(&store, &metadata).map_err(|e| volume.said(e))?;
            }
        }
        Ok(Erased { volume: self.volume, erased: true })
    }
}

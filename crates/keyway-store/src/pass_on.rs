//! What a store that stands on another leaves to that one.

/// Methods of [`Store`](crate::Store) that do what another store's do: the field that holds it, in brackets, and their names.
///
/// ```
/// use keyway_store::{MemStore, Store, StoreError, pass_on};
///
/// /// Keeps what is discarded.
/// struct Keeping(MemStore);
///
/// impl Store for Keeping {
///     pass_on! { [0] read_at write_at flush size sector_bytes is_read_only is_claimed queueable }
///     fn discard(&self, _: u64, _: u64) -> Result<(), StoreError> {
///         Ok(())
///     }
/// }
///
/// assert_eq!(Keeping(MemStore::new(4096)).size(), 4096);
/// ```
#[macro_export]
macro_rules! pass_on {
    (@ read_at [$($to:tt)+]) => {
        fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), $crate::StoreError> {
            self.$($to)+.read_at(buf, offset)
        }
    };
    (@ write_at [$($to:tt)+]) => {
        fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), $crate::StoreError> {
            self.$($to)+.write_at(buf, offset)
        }
    };
    (@ flush [$($to:tt)+]) => {
        fn flush(&self) -> Result<(), $crate::StoreError> {
            self.$($to)+.flush()
        }
    };
    (@ discard [$($to:tt)+]) => {
        fn discard(&self, offset: u64, len: u64) -> Result<(), $crate::StoreError> {
            self.$($to)+.discard(offset, len)
        }
    };
    (@ size [$($to:tt)+]) => {
        fn size(&self) -> u64 {
            self.$($to)+.size()
        }
    };
    (@ sector_bytes [$($to:tt)+]) => {
        fn sector_bytes(&self) -> u32 {
            self.$($to)+.sector_bytes()
        }
    };
    (@ is_read_only [$($to:tt)+]) => {
        fn is_read_only(&self) -> bool {
            self.$($to)+.is_read_only()
        }
    };
    (@ is_claimed [$($to:tt)+]) => {
        fn is_claimed(&self) -> bool {
            self.$($to)+.is_claimed()
        }
    };
    (@ queueable [$($to:tt)+]) => {
        #[cfg(target_os = "linux")]
        fn queueable(&self) -> Option<$crate::DirectFile<'_>> {
            self.$($to)+.queueable()
        }
    };
    ($to:tt $($method:ident)+) => {
        $($crate::pass_on!(@ $method $to);)+
    };
}

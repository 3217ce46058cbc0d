//! The Enterprise SSC's ways: what goes by words there.

use super::config::SscKind;
use super::session::Session;
use super::tper::Tper;
use keyway_sed::enterprise::{END_COLUMN, START_COLUMN, column, column_number, find, named};
use keyway_sed::message::Call;
use keyway_sed::token::{Encoder, Value};
use keyway_sed::{Status, Uid};

impl Tper {
    pub(super) fn is_enterprise(&self) -> bool {
        self.state.config.ssc == SscKind::Enterprise
    }

    /// An optional parameter: by its number, or on such a drive by its name.
    pub(super) fn parameter<'v, 'a>(
        &self,
        call: &'v Call<'a>,
        number: u64,
        name: &str,
    ) -> Option<&'v Value<'a>> {
        if self.is_enterprise() { find(&call.arguments, name) } else { call.optional(number) }
    }

    /// Get: a list of rows, of which there is one, whose columns have names.
    pub(super) fn get_by_name(
        &self,
        call: &Call<'_>,
        session: &Session,
        aces: &[Uid],
        to: &mut Encoder,
    ) -> Result<(), Status> {
        let wrong = Status::InvalidParameter;
        let object = call.invoking;
        let cellblock = call.required().next().and_then(Value::list).ok_or(wrong)?;
        let bound = |name| {
            let of = |value: &Value<'_>| column_number(object, value.bytes()?);
            find(cellblock, name).map(|value| of(value).ok_or(wrong)).transpose()
        };
        let (first, last) = (bound(START_COLUMN)?.unwrap_or(0), bound(END_COLUMN)?.unwrap_or(u64::MAX));
        if first > last {
            return Err(wrong);
        }
        let row = self.tables(session.sp).rows.get(&object).ok_or(wrong)?;
        to.list(|to| {
            to.list(|to| {
                for number in row.keys().filter(|c| (first..=last).contains(*c)) {
                    if self.covers(session.sp, aces, *number)
                        && let Some(name) = column(object, *number)
                        && let Some(cell) = self.cell(session.sp, object, *number)
                    {
                        named(to, name, |to| cell.write(to));
                    }
                }
            });
        });
        Ok(())
    }
}

//! What both SPs' tables are put together with.

use super::ace;
use super::table::{Row, Sp, Tables};
use crate::cell::{Cell, Expression};
use keyway_sed::Uid;
use keyway_sed::uid::{authority, method, table};

/// Authority operations (Core 2.01, 5.1.3, `auth_method`).
const OPERATION_NONE: u64 = 0;
const OPERATION_PASSWORD: u64 = 1;
/// Table kinds (Core 2.01, 5.1.3, `table_kind`).
const KIND_OBJECT: u64 = 1;
const KIND_BYTE: u64 = 2;
/// Columns of C_PIN that are told: all but the PIN and its names.
pub(super) const C_PIN_NOPIN: [u64; 5] = [0, 4, 5, 6, 7];
pub(super) const C_PIN_PIN: [u64; 1] = [3];

#[derive(Default)]
pub(super) struct Builder {
    pub(super) tables: Tables,
}

impl Builder {
    pub(super) fn row<const N: usize>(&mut self, uid: Uid, cells: [(u64, Cell); N]) {
        let mut row = Row::from(cells);
        row.insert(0, Cell::Uid(uid));
        self.tables.rows.insert(uid, row);
    }

    pub(super) fn allow(&mut self, object: Uid, method: Uid, aces: &[Uid]) {
        self.tables.access.insert((object, method), aces.to_vec());
    }

    /// Everybody may list the table's rows.
    pub(super) fn listed(&mut self, table: Uid) {
        self.allow(table, method::NEXT, &[ace::ANYBODY]);
    }

    /// Whoever these ACEs admit may read every row of the table that there is.
    pub(super) fn read_by(&mut self, table: Uid, aces: &[Uid]) {
        let rows: Vec<Uid> = self.tables.rows_of(table).collect();
        for row in rows {
            self.allow(row, method::GET, aces);
        }
    }

    /// Everybody may list and read all of it.
    pub(super) fn public(&mut self, table: Uid) {
        self.listed(table);
        self.read_by(table, &[ace::ANYBODY]);
    }

    pub(super) fn ace(&mut self, uid: Uid, name: &str, who: &[Uid], columns: &[u64]) {
        self.row(
            uid,
            [
                (1, Cell::name(name)),
                (2, Cell::name("")),
                (3, Cell::Expression(Expression::any_of(who))),
                (4, Cell::Uints(columns.to_vec())),
            ],
        );
    }

    pub(super) fn authority(&mut self, uid: Uid, name: &str, class: Uid, enabled: bool, credential: Uid) {
        let operation = if credential == Uid::NULL { OPERATION_NONE } else { OPERATION_PASSWORD };
        let is_class = [authority::ADMINS, authority::MAKERS, authority::USERS].contains(&uid);
        self.row(
            uid,
            [
                (1, Cell::name(name)),
                (2, Cell::name("")),
                (3, Cell::Uint(is_class.into())),
                (4, Cell::Uid(class)),
                (5, Cell::Uint(enabled.into())),
                (6, Cell::Uint(0)),
                (7, Cell::Uint(0)),
                (8, Cell::Uint(0)),
                (9, Cell::Uint(operation)),
                (10, Cell::Uid(credential)),
                (11, Cell::Uid(Uid::NULL)),
                (12, Cell::Uid(Uid::NULL)),
            ],
        );
    }

    /// Everybody, and a class that nobody proves.
    pub(super) fn classes(&mut self, classes: &[(Uid, &str)]) {
        for (uid, name) in [(authority::ANYBODY, "Anybody")].iter().chain(classes) {
            self.authority(*uid, name, Uid::NULL, true, Uid::NULL);
        }
    }

    pub(super) fn c_pin(&mut self, uid: Uid, name: &str, try_limit: u32) {
        self.row(
            uid,
            [
                (1, Cell::name(name)),
                (2, Cell::name("")),
                (3, Cell::name("")),
                (4, Cell::Uid(Uid::NULL)),
                (5, Cell::Uint(try_limit.into())),
                (6, Cell::Uint(0)),
                (7, Cell::Uint(0)),
            ],
        );
    }

    /// What both SPs have: SPInfo, SPTemplates, MethodID, and what everybody may call.
    pub(super) fn common(
        &mut self,
        which: Sp,
        name: &str,
        second_template: (u32, &str),
        methods: &[(Uid, &str)],
    ) {
        self.row(
            Uid::row(2, 1),
            [
                (1, Cell::Uid(which.uid())),
                (2, Cell::name(name)),
                (3, Cell::Uint(0)),
                (4, Cell::Uint(0)),
                (5, Cell::Uint(0)),
                (6, Cell::Uint(1)),
            ],
        );
        self.read_by(table::SP_INFO, &[ace::ANYBODY]);
        for (n, (template, name)) in [(1, "Base"), second_template].into_iter().enumerate() {
            self.row(
                Uid::row(3, n as u32 + 1),
                [
                    (1, Cell::Uid(Uid::row(0x0204, template))),
                    (2, Cell::name(name)),
                    (3, Cell::Bytes(vec![0, 0, 0, 2])),
                ],
            );
        }
        self.public(table::SP_TEMPLATES);
        let base = [
            (method::NEXT, "Next"),
            (method::GET_ACL, "GetACL"),
            (method::GET, "Get"),
            (method::SET, "Set"),
            (method::AUTHENTICATE, "Authenticate"),
            (method::RANDOM, "Random"),
        ];
        let base = base.iter().map(|method| (method, 1));
        for ((uid, name), template) in base.chain(methods.iter().map(|m| (m, second_template.0))) {
            self.row(
                *uid,
                [(1, Cell::name(name)), (2, Cell::name("")), (3, Cell::Uid(Uid::row(0x0204, template)))],
            );
        }
        self.public(table::METHOD_ID);
        self.allow(Uid::THIS_SP, method::AUTHENTICATE, &[ace::ANYBODY]);
        self.allow(Uid::THIS_SP, method::RANDOM, &[ace::ANYBODY]);
        self.ace(ace::ANYBODY, "ACE_Anybody", &[authority::ANYBODY], &[]);
    }

    /// The Table table, about all the others; call it last.
    pub(super) fn table_of_tables(&mut self, own: &[(Uid, &str, u64)]) {
        let common = [
            (table::TABLE, "Table", 15),
            (table::SP_INFO, "SPInfo", 7),
            (table::SP_TEMPLATES, "SPTemplates", 4),
            (table::METHOD_ID, "MethodID", 4),
            (table::ACCESS_CONTROL, "AccessControl", 0),
            (table::ACE, "ACE", 5),
            (table::AUTHORITY, "Authority", 13),
            (table::C_PIN, "C_PIN", 8),
        ];
        for (uid, name, columns) in common.iter().chain(own) {
            let bytes = self.tables.byte_tables.get(uid).copied();
            let rows = bytes.map_or_else(|| self.tables.rows_of(*uid).count() as u64, |b| b.len);
            let kind = if bytes.is_some() { KIND_BYTE } else { KIND_OBJECT };
            self.row(
                Uid::row(1, uid.table_number()),
                [
                    (1, Cell::name(name)),
                    (2, Cell::name("")),
                    (3, Cell::Uid(Uid::NULL)),
                    (4, Cell::Uint(kind)),
                    (5, Cell::Uid(Uid::NULL)),
                    (6, Cell::Uint(*columns)),
                    (7, Cell::Uint(rows)),
                    (8, Cell::Uint(0)),
                    (9, Cell::Uint(0)),
                    (10, Cell::Uid(Uid::NULL)),
                    (11, Cell::Uint(rows)),
                    (12, Cell::Uint(rows)),
                    (13, Cell::Uint(u64::from(bytes.is_some()))),
                    (14, Cell::Uint(u64::from(bytes.is_some()))),
                ],
            );
        }
        self.public(table::TABLE);
    }
}

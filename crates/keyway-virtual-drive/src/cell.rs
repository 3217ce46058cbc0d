//! What stands in a table: one cell of a row and column, and the expressions of ACEs.

use keyway_sed::Uid;
use keyway_sed::token::{Encoder, Value};
use keyway_sed::uid::authority;
use keyway_sed::uid::parameter::{AUTHORITY_REF, BOOLEAN_ACE};
use std::collections::BTreeSet;

/// Entries of an ACE's expression: Opal SSC 2.01 asks for one authority per admin and user.
const MAX_TERMS: usize = 64;
/// Ways to satisfy an expression, and authorities in one way, that keys are kept for.
const MAX_WAYS: usize = 32;
const MAX_TOGETHER: usize = 8;

/// A cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Uint(u64),
    Bytes(Vec<u8>),
    Uid(Uid),
    /// A set of numbers.
    Uints(Vec<u64>),
    /// A list of names.
    Names(Vec<String>),
    /// Whom an ACE admits.
    Expression(Expression),
}

impl Cell {
    pub(super) fn name(text: &str) -> Self {
        Self::Bytes(text.as_bytes().to_vec())
    }

    pub(super) fn uint(&self) -> Option<u64> {
        if let Self::Uint(n) = self { Some(*n) } else { None }
    }

    /// As `Get` tells it.
    pub(super) fn write(&self, to: &mut Encoder) {
        match self {
            Self::Uint(n) => {
                to.uint(*n);
            }
            Self::Bytes(bytes) => {
                to.bytes(bytes);
            }
            Self::Uid(uid) => {
                to.uid(*uid);
            }
            Self::Uints(list) => {
                to.list(|to| {
                    for n in list {
                        to.uint(*n);
                    }
                });
            }
            Self::Names(list) => {
                to.list(|to| {
                    for name in list {
                        to.bytes(name.as_bytes());
                    }
                });
            }
            Self::Expression(expression) => expression.write(to),
        }
    }

    /// As it is kept: with its kind, so that it can be read back.
    pub(super) fn store(&self, to: &mut Encoder) {
        let kind = match self {
            Self::Uint(_) => 0,
            Self::Bytes(_) => 1,
            Self::Uid(_) => 2,
            Self::Uints(_) => 3,
            Self::Names(_) => 4,
            Self::Expression(_) => 5,
        };
        to.uint(kind);
        self.write(to);
    }

    pub(super) fn load(kind: &Value<'_>, value: &Value<'_>) -> Option<Self> {
        Some(match kind.uint()? {
            0 => Self::Uint(value.uint()?),
            1 => Self::Bytes(value.bytes()?.to_vec()),
            2 => Self::Uid(value.uid()?),
            3 => Self::Uints(value.list()?.iter().map(Value::uint).collect::<Option<_>>()?),
            4 => {
                let name = |v: &Value<'_>| String::from_utf8(v.bytes()?.to_vec()).ok();
                Self::Names(value.list()?.iter().map(name).collect::<Option<_>>()?)
            }
            5 => Self::Expression(Expression::parse(value)?),
            _ => return None,
        })
    }
}

/// One entry of an expression, which is in postfix order (Core 2.01, 5.1.3, `ACE_expression`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Term {
    Authority(Uid),
    And,
    Or,
}

/// Whom an ACE admits: authorities joined by AND and OR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expression(Vec<Term>);

impl Expression {
    /// Any of these authorities.
    pub(super) fn any_of(authorities: &[Uid]) -> Self {
        let mut terms = Vec::new();
        for (n, authority) in authorities.iter().enumerate() {
            terms.push(Term::Authority(*authority));
            if n > 0 {
                terms.push(Term::Or);
            }
        }
        Self(terms)
    }

    /// Reads one; none when it is not well-formed, or larger than the drive's limits.
    pub(super) fn parse(value: &Value<'_>) -> Option<Self> {
        let list = value.list()?;
        if list.len() > MAX_TERMS {
            return None;
        }
        let mut terms = Vec::with_capacity(list.len());
        for entry in list {
            let (kind, value) = entry.named()?;
            let kind = kind.bytes()?;
            terms.push(if kind == AUTHORITY_REF {
                Term::Authority(value.uid()?)
            } else if kind == BOOLEAN_ACE {
                match value.uint()? {
                    0 => Term::And,
                    1 => Term::Or,
                    // NOT: no SSC asks for it, and no key can be kept for it.
                    _ => return None,
                }
            } else {
                return None;
            });
        }
        let expression = Self(terms);
        expression.ways()?;
        Some(expression)
    }

    pub(super) fn write(&self, to: &mut Encoder) {
        to.list(|to| {
            for term in &self.0 {
                to.token(keyway_sed::token::Token::StartName);
                match term {
                    Term::Authority(uid) => to.bytes(&AUTHORITY_REF).uid(*uid),
                    Term::And => to.bytes(&BOOLEAN_ACE).uint(0),
                    Term::Or => to.bytes(&BOOLEAN_ACE).uint(1),
                };
                to.token(keyway_sed::token::Token::EndName);
            }
        });
    }

    /// The authorities it names.
    pub(super) fn authorities(&self) -> impl Iterator<Item = Uid> {
        self.0.iter().filter_map(|term| if let Term::Authority(uid) = term { Some(*uid) } else { None })
    }

    /// Whether these authorities, together, are admitted.
    pub(super) fn admits(&self, present: &BTreeSet<Uid>) -> bool {
        let mut stack = Vec::new();
        for term in &self.0 {
            match term {
                Term::Authority(uid) => stack.push(present.contains(uid)),
                Term::And | Term::Or => {
                    let (Some(b), Some(a)) = (stack.pop(), stack.pop()) else { return false };
                    stack.push(if *term == Term::And { a && b } else { a || b });
                }
            }
        }
        stack == [true]
    }

    /// Each smallest set of authorities that is admitted, and some larger ones; none when it is not
    /// well-formed or there are too many. An empty expression admits nobody.
    pub(super) fn ways(&self) -> Option<Vec<BTreeSet<Uid>>> {
        let mut stack: Vec<BTreeSet<BTreeSet<Uid>>> = Vec::new();
        for term in &self.0 {
            let ways = match term {
                // What everybody is takes no part.
                Term::Authority(uid) if *uid == authority::ANYBODY => BTreeSet::from([BTreeSet::new()]),
                Term::Authority(uid) => BTreeSet::from([BTreeSet::from([*uid])]),
                Term::Or => {
                    let (b, mut a) = (stack.pop()?, stack.pop()?);
                    a.extend(b);
                    a
                }
                Term::And => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    a.iter().flat_map(|x| b.iter().map(move |y| x.union(y).copied().collect())).collect()
                }
            };
            if ways.len() > MAX_WAYS || ways.iter().any(|way| way.len() > MAX_TOGETHER) {
                return None;
            }
            stack.push(ways);
        }
        match stack.len() {
            0 => Some(Vec::new()),
            1 => Some(stack.pop()?.into_iter().collect()),
            _ => None,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn and_and_or() {
        let user = authority::user;
        let a = |n| Term::Authority(user(n));
        // (1 AND 2) OR 3
        let expression = Expression(vec![a(1), a(2), Term::And, a(3), Term::Or]);
        let admits = |users: &[u16]| expression.admits(&users.iter().map(|n| user(*n)).collect());
        assert!(admits(&[1, 2]) && admits(&[3]) && admits(&[1, 3]));
        assert!(!admits(&[1]) && !admits(&[2]) && !admits(&[]));
        let ways = expression.ways().unwrap();
        assert_eq!(ways, [BTreeSet::from([user(1), user(2)]), BTreeSet::from([user(3)])]);
    }

    #[test]
    fn malformed_ones_admit_nobody() {
        let a = Term::Authority(authority::ANYBODY);
        let everybody = BTreeSet::from([authority::ANYBODY]);
        for terms in [vec![], vec![Term::Or], vec![a, a], vec![a, Term::And]] {
            assert!(!Expression(terms).admits(&everybody));
        }
        assert!(Expression(vec![a, a]).ways().is_none());
        assert!(Expression(vec![a, Term::Or]).ways().is_none());
    }

    #[test]
    fn as_linux_writes_it() {
        let expression = Expression::any_of(&[authority::admin(1), authority::user(2)]);
        let mut to = Encoder::new();
        expression.write(&mut to);
        let mut tokens = keyway_sed::token::Tokens::new(&to.as_bytes()[1..]);
        let list = keyway_sed::token::Budget::new().list(&mut tokens).unwrap();
        assert_eq!(list.len(), 3);
        assert_eq!(Expression::parse(&Value::List(list)), Some(expression));
    }
}

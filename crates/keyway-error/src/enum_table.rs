//! Enums with a table: what belongs to each value stands beside it.

/// An enum, and what belongs to each of its values: a column is a method, `ALL` has the values in their order.
///
/// ```
/// keyway_error::enum_table! {
///     /// A metal.
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     pub enum Metal {
///         /// Iron.
///         Iron("Fe", 26),
///         /// Gold.
///         Gold("Au", 79),
///     }
///     /// Its symbol.
///     pub symbol: &'static str,
///     /// Its number.
///     pub number: u8,
/// }
///
/// assert_eq!(Metal::ALL.map(Metal::number), [26, 79]);
/// assert_eq!(Metal::Gold.symbol(), "Au");
/// ```
#[macro_export]
macro_rules! enum_table {
    (
        $(#[$attr:meta])* $vis:vis enum $type:ident {
            $($(#[$of_value:meta])* $value:ident($($cell:expr),+ $(,)?)),+ $(,)?
        }
        $($(#[$about:meta])* $seen:vis $column:ident: $is:ty),+ $(,)?
    ) => {
        $(#[$attr])* $vis enum $type { $($(#[$of_value])* $value,)+ }

        impl $type {
            /// Each of them.
            #[allow(dead_code, reason = "not each has a reader")]
            $vis const ALL: [Self; [$(stringify!($value)),+].len()] = [$(Self::$value),+];
        }

        $crate::enum_table! {
            @ $type ($($column)+) { $($value($($cell),+))+ } $([$(#[$about])* $seen $column: $is])+
        }
    };
    (@ $type:ident $columns:tt $rows:tt $($column:tt)+) => {
        impl $type {
            $($crate::enum_table! { @@ $columns $rows $column })+
        }
    };
    (@@ ($($all:ident)+) { $($value:ident($($cell:expr),+))+ }
        [$(#[$about:meta])* $seen:vis $column:ident: $is:ty]) => {
        $(#[$about])*
        #[allow(unused_variables, reason = "of a row it is one cell")]
        $seen const fn $column(self) -> $is {
            let ($($all,)+) = match self { $(Self::$value => ($($cell,)+),)+ };
            $column
        }
    };
}

/// An enum of numbers on a medium or a wire, of which there may be others than are known: those are kept. Each value's number
/// stands first, and other columns behind it, as in [`enum_table!`].
///
/// ```
/// keyway_error::code_table! {
///     /// What became of a request.
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     pub enum Answer(u8) {
///         /// It was done.
///         Done(0, "done"),
///         /// It was refused.
///         Refused(7, "refused");
///         /// Something else.
///         Other("unknown"),
///     }
///     /// Its name.
///     pub name: &'static str,
/// }
///
/// assert_eq!(Answer::from_code(7), Answer::Refused);
/// assert_eq!((Answer::from_code(9).code(), Answer::Other(9).name()), (9, "unknown"));
/// assert_eq!(Answer::KNOWN, [Answer::Done, Answer::Refused]);
/// ```
#[macro_export]
macro_rules! code_table {
    (
        $(#[$attr:meta])* $vis:vis enum $type:ident($code:ty) {
            $($(#[$of_value:meta])* $value:ident($number:literal $(, $cell:expr)*)),+;
            $(#[$of_other:meta])* $other:ident $(($($of_rest:expr),+))? $(,)?
        }
        $($(#[$about:meta])* $seen:vis $column:ident: $is:ty),* $(,)?
    ) => {
        $(#[$attr])* $vis enum $type { $($(#[$of_value])* $value,)+ $(#[$of_other])* $other($code) }

        impl $type {
            /// All that are known.
            $vis const KNOWN: [Self; [$(stringify!($value)),+].len()] = [$(Self::$value),+];

            /// From its number.
            $vis fn from_code(code: $code) -> Self {
                Self::KNOWN.into_iter().find(|known| known.code() == code).unwrap_or(Self::$other(code))
            }

            /// Its number.
            $vis const fn code(self) -> $code {
                match self { $(Self::$value => $number,)+ Self::$other(code) => code }
            }
        }

        $crate::code_table! {
            @ $type ($($column)*) { $($value($($cell),*))+ $other($($($of_rest),+)?) } $([$(#[$about])* $seen $column: $is])*
        }
    };
    (@ $type:ident $columns:tt $rows:tt $($column:tt)*) => {
        impl $type {
            $($crate::code_table! { @@ $columns $rows $column })*
        }
    };
    (@@ ($($all:ident)+) { $($value:ident($($cell:expr),*))+ }
        [$(#[$about:meta])* $seen:vis $column:ident: $is:ty]) => {
        $(#[$about])*
        #[allow(unused_variables, reason = "of a row it is one cell")]
        $seen const fn $column(self) -> $is {
            let ($($all,)+) = match self { $(Self::$value { .. } => ($($cell,)*),)+ };
            $column
        }
    };
}

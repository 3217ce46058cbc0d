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

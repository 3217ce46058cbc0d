//! The table form of [`Explain`](crate::Explain): a line for each variant of an error.

/// Implements [`Explain`](crate::Explain) by a table.
///
/// A meaning is `[Kind Fault, Advice…; path]`; where the fault alone says the kind, `[Fault, …]`. A step that is computed
/// stands in parentheses, as many as there are after `..`; what fits no row is a block that gives a
/// [`Meaning`](crate::Meaning). The variants after `through` hold an error that explains itself.
///
/// ```
/// use keyway_error::{Explain, Fault, Kind, explain};
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("no name was given")]
/// struct NoName;
/// explain!(NoName => [Usage Request]);
///
/// #[derive(Debug, thiserror::Error)]
/// enum Refusal {
///     #[error("{0} exists already")]
///     Exists(String),
///     #[error("out of memory")]
///     Memory,
///     #[error(transparent)]
///     Name(NoName),
/// }
/// explain! { Refusal, through Name {
///     Self::Exists(name) => [Exists State, ChooseAnotherName; name],
///     Self::Memory => [Machine],
/// } }
///
/// assert_eq!(Refusal::Exists("a.hc".to_owned()).kind(), Kind::Exists);
/// assert_eq!(Refusal::Memory.fault(), Fault::Machine);
/// assert_eq!(Refusal::Name(NoName).kind(), Kind::Usage);
/// ```
#[macro_export]
macro_rules! explain {
    ($error:ty $(, through $($inner:ident)|+)? {
        $($(#[$attr:meta])* $pattern:pat $(if $guard:expr)? => $meaning:tt),* $(,)?
    }) => {
        impl $crate::Explain for $error {
            fn explain(&self) -> $crate::Meaning {
                match self {
                    $($(Self::$inner(error) => $crate::Explain::explain(error),)+)?
                    $($(#[$attr])* $pattern $(if $guard)? => $crate::meaning!($meaning),)*
                }
            }
        }
    };
    ($error:ty => $meaning:tt) => {
        impl $crate::Explain for $error {
            fn explain(&self) -> $crate::Meaning {
                $crate::meaning!($meaning)
            }
        }
    };
}

/// One meaning of [`explain!`]'s table.
#[doc(hidden)]
#[macro_export]
macro_rules! meaning {
    ([$kind:ident $fault:ident $($rest:tt)*]) => {
        $crate::meaning!(($crate::Meaning::new($crate::Kind::$kind, $crate::Fault::$fault)) $($rest)*)
    };
    ([$fault:ident $($rest:tt)*]) => {
        $crate::meaning!(($crate::Meaning::of($crate::Fault::$fault)) $($rest)*)
    };
    ({ $($meaning:tt)* }) => {{ $($meaning)* }};
    (($meaning:expr)
        $(, $step:ident $({ $($field:tt)* })?)* $(, ($computed:expr))? $(, ..$steps:expr)? $(; $path:expr)?
    ) => {
        $meaning
            $(.advise($crate::Advice::$step $({ $($field)* })?))*
            $(.advise($computed))?
            $(.advise_each($steps))?
            $(.about($path))?
    };
}

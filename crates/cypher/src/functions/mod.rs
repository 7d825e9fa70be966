//! Functions by name.

mod graphs;
mod lists;
mod numbers;
mod strings;

use crate::exec::Context;
use crate::fault::Result;
use crate::temporal;
use crate::value::Value;

/// What a function returns, as far as it is known before its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Returns {
    Any,
    Bool,
    Int,
    Float,
    Text,
    List,
    Nodes,
    Relationships,
    Map,
    Node,
    Temporal,
}

macro_rules! functions {
    ($($variant:ident $name:literal $least:literal $most:literal $returns:ident;)*) => {
        /// A function.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Function { $($variant),* }

        const ALL: &[(&str, Function, usize, usize, Returns)] =
            &[$(($name, Function::$variant, $least, $most, Returns::$returns)),*];
    };
}

functions! {
    Coalesce "coalesce" 1 1000 Any;
    Id "id" 1 1 Int;
    ElementId "elementid" 1 1 Text;
    Labels "labels" 1 1 List;
    Type "type" 1 1 Text;
    Keys "keys" 1 1 List;
    Properties "properties" 1 1 Map;
    StartNode "startnode" 1 1 Node;
    EndNode "endnode" 1 1 Node;
    Nodes "nodes" 1 1 Nodes;
    Relationships "relationships" 1 1 Relationships;
    Length "length" 1 1 Int;
    Size "size" 1 1 Int;
    Head "head" 1 1 Any;
    Last "last" 1 1 Any;
    Tail "tail" 1 1 Any;
    Reverse "reverse" 1 1 Any;
    Range "range" 2 3 List;
    IsEmpty "isempty" 1 1 Bool;
    ToInteger "tointeger" 1 1 Int;
    ToIntegerOrNull "tointegerornull" 1 1 Int;
    ToFloat "tofloat" 1 1 Float;
    ToFloatOrNull "tofloatornull" 1 1 Float;
    ToString "tostring" 1 1 Text;
    ToStringOrNull "tostringornull" 1 1 Text;
    ToBoolean "toboolean" 1 1 Bool;
    ToBooleanOrNull "tobooleanornull" 1 1 Bool;
    NullIf "nullif" 2 2 Any;
    Abs "abs" 1 1 Any;
    Ceil "ceil" 1 1 Float;
    Floor "floor" 1 1 Float;
    Round "round" 1 2 Float;
    Sign "sign" 1 1 Int;
    Sqrt "sqrt" 1 1 Float;
    Exp "exp" 1 1 Float;
    Log "log" 1 1 Float;
    Log10 "log10" 1 1 Float;
    Sin "sin" 1 1 Float;
    Cos "cos" 1 1 Float;
    Tan "tan" 1 1 Float;
    Cot "cot" 1 1 Float;
    Asin "asin" 1 1 Float;
    Acos "acos" 1 1 Float;
    Atan "atan" 1 1 Float;
    Atan2 "atan2" 2 2 Float;
    Degrees "degrees" 1 1 Float;
    Radians "radians" 1 1 Float;
    Haversin "haversin" 1 1 Float;
    Pi "pi" 0 0 Float;
    E "e" 0 0 Float;
    Rand "rand" 0 0 Float;
    IsNan "isnan" 1 1 Bool;
    Split "split" 2 2 List;
    Substring "substring" 2 3 Text;
    Left "left" 2 2 Text;
    Right "right" 2 2 Text;
    Trim "trim" 1 1 Text;
    LTrim "ltrim" 1 1 Text;
    RTrim "rtrim" 1 1 Text;
    Replace "replace" 3 3 Text;
    ToUpper "toupper" 1 1 Text;
    Upper "upper" 1 1 Text;
    ToLower "tolower" 1 1 Text;
    Lower "lower" 1 1 Text;
    CharLength "char_length" 1 1 Int;
    CharacterLength "character_length" 1 1 Int;
    Timestamp "timestamp" 0 0 Int;
    Date "date" 0 1 Temporal;
    Time "time" 0 1 Temporal;
    LocalTime "localtime" 0 1 Temporal;
    DateTime "datetime" 0 1 Temporal;
    LocalDateTime "localdatetime" 0 1 Temporal;
    DateNow "date.transaction" 0 1 Temporal;
    TimeNow "time.transaction" 0 1 Temporal;
    LocalTimeNow "localtime.transaction" 0 1 Temporal;
    DateTimeNow "datetime.transaction" 0 1 Temporal;
    LocalDateTimeNow "localdatetime.transaction" 0 1 Temporal;
    DateStatement "date.statement" 0 1 Temporal;
    TimeStatement "time.statement" 0 1 Temporal;
    LocalTimeStatement "localtime.statement" 0 1 Temporal;
    DateTimeStatement "datetime.statement" 0 1 Temporal;
    LocalDateTimeStatement "localdatetime.statement" 0 1 Temporal;
    DateReal "date.realtime" 0 1 Temporal;
    TimeReal "time.realtime" 0 1 Temporal;
    LocalTimeReal "localtime.realtime" 0 1 Temporal;
    DateTimeReal "datetime.realtime" 0 1 Temporal;
    LocalDateTimeReal "localdatetime.realtime" 0 1 Temporal;
    DateTruncate "date.truncate" 1 3 Temporal;
    TimeTruncate "time.truncate" 1 3 Temporal;
    LocalTimeTruncate "localtime.truncate" 1 3 Temporal;
    DateTimeTruncate "datetime.truncate" 1 3 Temporal;
    LocalDateTimeTruncate "localdatetime.truncate" 1 3 Temporal;
    FromEpoch "datetime.fromepoch" 2 2 Temporal;
    FromEpochMillis "datetime.fromepochmillis" 1 1 Temporal;
    Duration "duration" 1 1 Temporal;
    Between "duration.between" 2 2 Temporal;
    InMonths "duration.inmonths" 2 2 Temporal;
    InDays "duration.indays" 2 2 Temporal;
    InSeconds "duration.inseconds" 2 2 Temporal;
}

/// The function of a name in lower case, with the least and the greatest number of arguments.
pub(crate) fn by_name(name: &str) -> Option<(Function, usize, usize, Returns)> {
    ALL.iter().find(|one| one.0 == name).map(|(_, function, least, most, returns)| (*function, *least, *most, *returns))
}

impl Function {
    /// What it returns.
    pub(crate) fn returns(self) -> Returns {
        ALL.iter().find(|one| one.1 == self).map_or(Returns::Any, |one| one.4)
    }
}

/// The names of all functions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|one| one.0)
}

/// How many arguments a function takes, in words.
pub(crate) fn arity(least: usize, most: usize) -> String {
    match (least, most) {
        (least, most) if least == most => least.to_string(),
        (least, 1000) => format!("{least} or more"),
        (least, most) => format!("{least} to {most}"),
    }
}

/// The value of a function.
pub(crate) fn call(function: Function, arguments: &[Value], cx: &Context<'_>) -> Result<Value> {
    use Function as F;
    match function {
        F::Coalesce => Ok(arguments.iter().find(|value| !value.is_null()).cloned().unwrap_or_default()),
        F::NullIf => match arguments {
            [a, b] if crate::value::equal(a, b) == Some(true) => Ok(Value::Null),
            [a, ..] => Ok(a.clone()),
            [] => Ok(Value::Null),
        },
        F::Date | F::Time | F::LocalTime | F::DateTime | F::LocalDateTime | F::Duration => {
            temporal::construct(function, arguments, cx)
        }
        F::DateNow
        | F::TimeNow
        | F::LocalTimeNow
        | F::DateTimeNow
        | F::LocalDateTimeNow
        | F::DateStatement
        | F::TimeStatement
        | F::LocalTimeStatement
        | F::DateTimeStatement
        | F::LocalDateTimeStatement
        | F::DateReal
        | F::TimeReal
        | F::LocalTimeReal
        | F::DateTimeReal
        | F::LocalDateTimeReal => temporal::clock(function, arguments, cx),
        F::DateTruncate | F::TimeTruncate | F::LocalTimeTruncate | F::DateTimeTruncate | F::LocalDateTimeTruncate => {
            temporal::truncate(function, arguments, cx)
        }
        F::FromEpoch | F::FromEpochMillis => temporal::from_epoch(function, arguments),
        F::Between | F::InMonths | F::InDays | F::InSeconds => temporal::between(function, arguments),
        F::Timestamp => Ok(Value::Int(cx.now.timestamp_millis())),
        F::Id
        | F::ElementId
        | F::Labels
        | F::Type
        | F::Keys
        | F::Properties
        | F::StartNode
        | F::EndNode
        | F::Nodes
        | F::Relationships
        | F::Length => graphs::call(function, arguments, cx),
        F::Size | F::Head | F::Last | F::Tail | F::Reverse | F::Range | F::IsEmpty => {
            lists::call(function, arguments, cx)
        }
        F::ToInteger
        | F::ToIntegerOrNull
        | F::ToFloat
        | F::ToFloatOrNull
        | F::ToBoolean
        | F::ToBooleanOrNull
        | F::Abs
        | F::Ceil
        | F::Floor
        | F::Round
        | F::Sign
        | F::Sqrt
        | F::Exp
        | F::Log
        | F::Log10
        | F::Sin
        | F::Cos
        | F::Tan
        | F::Cot
        | F::Asin
        | F::Acos
        | F::Atan
        | F::Atan2
        | F::Degrees
        | F::Radians
        | F::Haversin
        | F::Pi
        | F::E
        | F::Rand
        | F::IsNan => numbers::call(function, arguments, cx),
        F::ToString
        | F::ToStringOrNull
        | F::Split
        | F::Substring
        | F::Left
        | F::Right
        | F::Trim
        | F::LTrim
        | F::RTrim
        | F::Replace
        | F::ToUpper
        | F::Upper
        | F::ToLower
        | F::Lower
        | F::CharLength
        | F::CharacterLength => strings::call(function, arguments),
    }
}

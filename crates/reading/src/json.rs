//! JSON values, under a budget of memory: a value takes up to a hundred times as many bytes as its text.

use crate::budget::Budget;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Bytes that the allocator adds to each piece of memory, and the fewest that it gives.
const PIECE: u64 = 32;

/// A value in a list or a map, whose own memory is counted apart.
const VALUE: u64 = size_of::<Value>() as u64;

/// A node of a map: eleven keys and values, of which half are used where keys come in order.
const NODE: u64 = 11 * (VALUE + size_of::<String>() as u64) + PIECE;
const NODE_ENTRIES: u64 = 6;

/// Text that is no JSON, or takes more memory than there is for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The byte at which that shows.
    pub byte: usize,
    /// The text that was found.
    pub reason: String,
}

/// The value that a text holds.
///
/// # Errors
/// The text is no value, or has more than one, or the budget does not suffice.
pub fn value(text: &[u8], budget: &Budget) -> Result<Value, Broken> {
    let broken = |error: &serde_json::Error| Broken { byte: offset(text, error), reason: reason(error) };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = Within(budget).deserialize(&mut deserializer).map_err(|error| broken(&error))?;
    deserializer.end().map_err(|error| broken(&error))?;
    Ok(value)
}

/// The values of a text, one after the other, as far as it is JSON.
pub struct Values<'a> {
    text: &'a [u8],
    budget: &'a Budget,
    ends: serde_json::StreamDeserializer<'a, serde_json::de::SliceRead<'a>, IgnoredAny>,
    /// The text was one value.
    whole: bool,
    ended: bool,
}

impl<'a> Values<'a> {
    /// Those of that text. Each may take all of the budget, since the last one is gone when the next is asked for.
    pub fn new(text: &'a [u8], budget: &'a Budget) -> Self {
        let ends = serde_json::Deserializer::from_slice(text).into_iter();
        Self { text, budget, ends, whole: false, ended: false }
    }

    /// Where the last value ended.
    pub fn byte(&self) -> usize {
        if self.whole {
            self.text.len()
        } else {
            self.ends.byte_offset()
        }
    }
}

impl Iterator for Values<'_> {
    type Item = Result<Value, Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let begins = self.byte();
        if begins == 0 {
            // Most texts are one value: then there is no end to be looked for.
            self.budget.renew();
            if let Ok(whole) = value(self.text, self.budget) {
                (self.whole, self.ended) = (true, true);
                return Some(Ok(whole));
            }
        }
        let read = match self.ends.next()? {
            Ok(IgnoredAny) => {
                self.budget.renew();
                value(&self.text[begins..self.ends.byte_offset()], self.budget)
                    .map_err(|broken| Broken { byte: begins + broken.byte, ..broken })
            }
            Err(error) => Err(Broken { byte: offset(self.text, &error), reason: reason(&error) }),
        };
        self.ended = read.is_err();
        Some(read)
    }
}

fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.strip_prefix(TOO_MUCH) {
        Some(_) => text.split(" at line").next().unwrap_or_default().into(),
        None => format!("JSON that cannot be read: {text}"),
    }
}

/// The byte that an error names by line and column, which count from 1.
fn offset(text: &[u8], error: &serde_json::Error) -> usize {
    if error.is_eof() {
        return text.len();
    }
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let start = std::iter::once(0).chain(ends).nth(error.line().saturating_sub(1)).unwrap_or(text.len());
    (start + error.column().saturating_sub(1)).min(text.len())
}

/// How an error of the budget begins.
const TOO_MUCH: &str = "JSON that takes more than";

/// Reads a value whose memory is taken of a budget.
#[derive(Clone, Copy)]
struct Within<'a>(&'a Budget);

impl Within<'_> {
    fn take<E: Error>(self, bytes: u64) -> Result<(), E> {
        if self.0.take(bytes) {
            return Ok(());
        }
        Err(E::custom(format!("{TOO_MUCH} {} of memory", crate::readers::shown(self.0.most()))))
    }

    fn text<E: Error>(self, length: usize) -> Result<(), E> {
        self.take(if length == 0 { 0 } else { length as u64 + PIECE })
    }
}

impl<'de> DeserializeSeed<'de> for Within<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Within<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.text(value.len())?;
        Ok(Value::String(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = values.next_element_seed(self)? {
            if list.len() == list.capacity() {
                // A list grows to twice its length, and holds both for a moment.
                self.take(VALUE * list.len().max(4) as u64 + PIECE)?;
            }
            list.push(value);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let (mut map, mut count) = (Map::new(), 0u64);
        while let Some(key) = entries.next_key::<String>()? {
            if count.is_multiple_of(NODE_ENTRIES) {
                self.take(NODE)?;
            }
            self.text(key.len())?;
            let value = entries.next_value_seed(self)?;
            map.insert(key, value);
            count += 1;
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLENTY: u64 = 1 << 30;

    /// The values before the first that is broken, and that.
    fn all(text: &[u8], most: u64) -> (Vec<Value>, Option<Broken>) {
        let (budget, mut read) = (Budget::new(most), Vec::new());
        for value in Values::new(text, &budget) {
            match value {
                Ok(value) => read.push(value),
                Err(broken) => return (read, Some(broken)),
            }
        }
        (read, None)
    }

    #[test]
    fn values_are_those_of_serde_json() {
        let text = br#" {"a":[1,-2,3.5,true,null,"x\n"],"b":{"":{}}} [] 7"#;
        let whole = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
        let (read, broken) = all(text, PLENTY);
        assert_eq!(read, whole.map(Result::unwrap).collect::<Vec<_>>());
        assert_eq!(broken, None);
    }

    #[test]
    fn what_is_no_json_is_named_with_its_byte() {
        let (read, broken) = all(b"{\"a\":1}\n{\"b\":x}", PLENTY);
        let broken = broken.unwrap();
        assert_eq!((read.len(), broken.byte), (1, 13));
        assert_eq!(broken.reason, "JSON that cannot be read: expected value at line 2 column 6");
        assert_eq!(all(b"{\"a\":", PLENTY).1.unwrap().byte, 5);
        let deep = "[".repeat(300) + &"]".repeat(300);
        assert!(all(deep.as_bytes(), PLENTY).1.unwrap().reason.contains("recursion limit"));
    }

    #[test]
    fn small_texts_cannot_take_all_memory() {
        for piece in ["{\"\":0},", "[0],", "0,", "\"\",", "\"a\",", "[[0]],"] {
            let text = format!("[{}0]", piece.repeat(100_000));
            let (read, broken) = all(text.as_bytes(), 1 << 20);
            let broken = broken.unwrap();
            assert_eq!(broken.reason, "JSON that takes more than 1 MiB of memory", "{piece}");
            assert!(read.is_empty() && broken.byte < text.len(), "{piece}: {broken:?}");
            // Another value has the budget for itself.
            assert_eq!(all(b"[0] [1] [2]", 200).0.len(), 3);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_serde_json_reads_it(text in r#"([\[\]{}:,"01e. a\\-]|true|null|\{"a":|\[1,){0,30}"#) {
            let budget = Budget::new(PLENTY);
            let found = value(text.as_bytes(), &budget).ok();
            prop_assert_eq!(found, serde_json::from_slice::<Value>(text.as_bytes()).ok());
        }
    }
}

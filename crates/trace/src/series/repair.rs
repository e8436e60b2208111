//! JSON that is not quite JSON: what tools print before it, numbers that are none, and documents that break off.

/// Lines before a JSON document, at most.
const LINES: usize = 32;

/// How deep JSON is read, as `serde_json` does.
const DEPTH: usize = 127;

/// Numbers that are none, as C and Python print them; the longest first.
const NO_NUMBERS: [&[u8]; 3] = [b"infinity", b"nan", b"inf"];

/// Where the first line begins that a JSON object begins with.
pub(super) fn preface(text: &[u8]) -> Option<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let object = |at: &usize| {
        let inner = text[*at..].trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
        inner.is_some_and(|inner| inner.is_empty() || matches!(inner[0], b'"' | b'}'))
    };
    std::iter::once(0).chain(ends).take(LINES).find(object)
}

/// Makes each number that is none, outside of texts, an empty text of the same length, which is read as unknown; how many there were.
pub(super) fn blank_no_numbers(bytes: &mut [u8]) -> u64 {
    let (mut quoted, mut escaped, mut found, mut at) = (false, false, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'-' | b'n' | b'N' | b'i' | b'I' if !quoted => {
                let sign = usize::from(bytes[at] == b'-');
                let word = &bytes[at + sign..];
                let begins = |name: &&&[u8]| {
                    word.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name))
                };
                if let Some(name) = NO_NUMBERS.iter().find(begins) {
                    let length = sign + name.len();
                    bytes[at..at + length].fill(b' ');
                    bytes[at..at + 2].copy_from_slice(b"\"\"");
                    found += 1;
                    at += length;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// A document that breaks off, or is damaged at its end: up to the last object of which all is there, with what encloses it closed.
pub(super) fn closed(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut open, mut quoted, mut escaped) = (Vec::new(), false, false);
    // Where the last whole object ends, and what encloses it.
    let (mut end, mut around) = (0, Vec::new());
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' if open.len() >= DEPTH => break,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' if open.last() != Some(byte) => break, // damage
            b'}' => {
                open.pop();
                end = at + 1;
                around.clone_from(&open);
            }
            b']' => {
                open.pop();
            }
            _ => {}
        }
    }
    around.reverse();
    (end > 0).then(|| [&bytes[..end], &around].concat())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the tests' own texts")]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_document_that_breaks_off_is_closed_behind_its_last_whole_object() {
        let text = r#"{"a": [{"b": 1, "c": "}]\"{"}, {"d": [{"e": 20}], "f": 3}, {"g": 4"#;
        let closed = |text: &str| {
            let closed = closed(text.as_bytes())?;
            serde_json::from_slice::<Value>(&closed).ok().map(|value| value.to_string())
        };
        assert_eq!(closed(text).unwrap(), r#"{"a":[{"b":1,"c":"}]\"{"},{"d":[{"e":20}],"f":3}]}"#);
        for (cut, left) in [
            (", {\"d\"", Some(r#"{"a":[{"b":1,"c":"}]\"{"}]}"#)),
            ("], \"f\"", Some(r#"{"a":[{"b":1,"c":"}]\"{"},{"d":[{"e":20}]}]}"#)),
            ("]\\\"", None),
        ] {
            let part = &text[..text.find(cut).unwrap()];
            assert_eq!(closed(part).as_deref(), left, "{part}");
        }
        assert_eq!(closed("{\"a\": [}"), None);
        assert!(closed(&"[{},".repeat(1000)).is_some(), "no deeper than JSON is read");
    }

    #[test]
    fn numbers_that_are_none_are_blanked_where_they_stand() {
        let mut text =
            br#"{"a": -nan, "nan -inf": [NaN, -Infinity, inf, -1], "b": "\"nan", "null": null}"#.to_vec();
        let length = text.len();
        assert_eq!((blank_no_numbers(&mut text), text.len()), (4, length));
        let value: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(value.to_string(), r#"{"a":"","b":"\"nan","nan -inf":["","","",-1],"null":null}"#);
    }

    #[test]
    fn json_may_stand_behind_other_lines() {
        assert_eq!(preface(b"{}"), Some(0));
        assert_eq!(preface(b"warning: {x}\nno\n  {\n \"a\": 1}"), Some(16));
        assert_eq!(preface(b"one\n{ two }\n"), None);
    }
}

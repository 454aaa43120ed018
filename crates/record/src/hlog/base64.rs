//! Decoding of base64. Source: RFC 4648 §4, the standard alphabet with padding.

/// The bytes that `text` stands for; `None` if it is not base64 in its only canonical form.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in text[..text.len() - padding].chunks(4) {
        let mut bits = 0;
        for letter in group {
            bits = bits << 6 | value_of(*letter)?;
        }
        bits <<= 6 * (4 - group.len());
        let [_, first, second, third] = u32::to_be_bytes(bits);
        let kept = group.len() - 1;
        bytes.extend_from_slice(&[first, second, third][..kept]);
        if [first, second, third][kept..].iter().any(|rest| *rest != 0) {
            return None;
        }
    }
    Some(bytes)
}

fn value_of(letter: u8) -> Option<u32> {
    let value = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn the_vectors_of_rfc_4648_are_decoded() {
        let check =
            |text: &str, bytes: &str| assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes.as_bytes()));
        check("", "");
        check("Zg==", "f");
        check("Zm8=", "fo");
        check("Zm9v", "foo");
        check("Zm9vYg==", "foob");
        check("Zm9vYmE=", "fooba");
        check("Zm9vYmFy", "foobar");
    }

    #[test]
    fn other_forms_are_refused() {
        for wrong in
            ["Z", "Zg", "Zg=", "Zg=a", "Z===", "====", "Zh==", "Zm9=", "Zm 9", "Zm9v\n", "Zm-_", "Zg==Zg=="]
        {
            assert_eq!(decode(wrong.as_bytes()), None, "{wrong}");
        }
    }
}

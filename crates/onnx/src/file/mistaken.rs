//! Files of other programs, which are passed by mistake.

/// Number of first bytes that tell the kind of a file.
pub(super) const HEAD: u64 = 1024;

/// Message for a file with these first bytes that is no ONNX file; `None` if its kind is not known.
pub(super) fn kind(head: &[u8]) -> Option<String> {
    let found = binary(head).or_else(|| text(head))?;
    Some(format!("not an ONNX file, but {found}"))
}

fn binary(head: &[u8]) -> Option<&'static str> {
    const PYTORCH: &str = "a PyTorch checkpoint; export the network with `torch.onnx.export(model, inputs, \"net.onnx\")`";
    if head.starts_with(b"PK\x03\x04") {
        let has = |name: &[u8]| head.windows(name.len()).any(|part| part == name);
        // Archives of PyTorch have pickled data or records of their own first, those of Keras their settings.
        return Some(match () {
            () if has(b"config.json") || has(b"metadata.json") => {
                "a Keras archive; export the network with tf2onnx or `model.export(\"net.onnx\", format=\"onnx\")`"
            }
            () if has(b"data.pkl") || has(b".pt") || has(b"byteorder") => PYTORCH,
            () => {
                "a zip archive, such as a PyTorch checkpoint; export the network with `torch.onnx.export(model, inputs, \"net.onnx\")`"
            }
        });
    }
    // A pickle of protocol 2 begins with the magic number of PyTorch's old format.
    if head.starts_with(b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9") {
        return Some(PYTORCH);
    }
    if head.get(4..8) == Some(b"TFL3") {
        return Some(
            "a TFLite file; convert it with `python -m tf2onnx.convert --tflite net.tflite --output net.onnx`",
        );
    }
    if head.starts_with(b"\x89HDF\r\n\x1a\n") {
        return Some("an HDF5 file, as Keras writes; export the network with tf2onnx");
    }
    if head.starts_with(b"\x1f\x8b") {
        return Some("a file packed by gzip; unpack it first");
    }
    // The length of the header, then the header in JSON.
    if head.get(8..10) == Some(b"{\"") {
        return Some(
            "a safetensors file, which has weights and no network; export the network with `torch.onnx.export(model, inputs, \"net.onnx\")`",
        );
    }
    None
}

fn text(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"version https://git-lfs.github.com/") {
        return Some("a pointer of Git LFS; get the file with `git lfs pull`");
    }
    // The head can end within a character.
    let text = match str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return None,
    };
    let is_shown = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    (!text.is_empty() && text.chars().all(is_shown)).then_some("text")
}

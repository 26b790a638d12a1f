//! Elements of tensors in files beside the ONNX file.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use xrsim_model::text::in_line;

use super::super::fact::Number;
use super::super::graph::Tensor;
use super::Error;
use super::tensor::{bytes_of, check_location, decode, kept, outside};

/// Elements of a tensor whose data are in a file below `folder`, the folder of the ONNX file. `None` if the
/// tensor has no such data, or is too large to matter for shapes.
///
/// # Errors
///
/// Returns an error if the file is outside of the folder, cannot be read, or has fewer bytes.
pub(crate) fn load(tensor: &Tensor, folder: &Path) -> Result<Option<Vec<Number>>, Error> {
    let Some(external) = &tensor.external else { return Ok(None) };
    let Some(count) = kept(tensor.element, &tensor.dims) else { return Ok(None) };
    check_location(&tensor.name, &external.location).map_err(Error::whole)?;
    let length = bytes_of(tensor.element, count);
    let wrong = |reason: &str| {
        let (name, location) = (in_line(&tensor.name), in_line(&external.location));
        Error::whole(format!(
            "`{name}` is needed for a shape, and its data in `{location}` {reason}"
        ))
    };
    if external.length.is_some_and(|stated| stated < length as u64) {
        return Err(wrong(&format!("have fewer than {length} bytes")));
    }
    let unreadable = |error| wrong(&format!("cannot be read: {error}"));
    // An empty path is the working directory.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folder = folder.canonicalize().map_err(unreadable)?;
    let path = folder.join(&*external.location).canonicalize().map_err(unreadable)?;
    if !path.starts_with(&folder) {
        return Err(Error::whole(outside(&tensor.name, &external.location)));
    }
    if !fs::metadata(&path).map_err(unreadable)?.is_file() {
        return Err(wrong("are no regular file"));
    }
    let mut file = File::open(&path).map_err(unreadable)?;
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(external.offset)).map_err(unreadable)?;
    file.read_exact(&mut bytes).map_err(unreadable)?;
    Ok(decode(tensor.element, &bytes))
}

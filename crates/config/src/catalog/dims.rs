//! ONNX files whose open axes get their extents from a reference, as if these were parameters.

use std::path::Path;
use std::sync::Arc;

use crate::document::Document;
use crate::network::Model;
use crate::{ConfigError, ParameterValues, onnx};
use xrsim_model::model::{Network, Parameter};

use super::Catalog;
use super::locate::imported;

impl Catalog {
    /// The ONNX file that `base`, met in a file of `folder`, leads to, with these extents of its open axes. `None` without
    /// extents, or if it is no ONNX file.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Malformed`] for an extent of 0, [`ConfigError::Import`] if the import is refused.
    pub(super) fn with_dims(
        &mut self,
        base: &str,
        folder: Option<&Path>,
        dims: &ParameterValues,
    ) -> Result<Option<Document>, ConfigError> {
        let folder = folder.or(self.folder.as_deref()).unwrap_or(Path::new(""));
        let path = folder.join(base);
        if dims.is_empty() || !path.is_file() || !onnx::is_model(&path) {
            return Ok(None);
        }
        dims.refuse_zero(base)?;
        let name = dims.of(&path.display().to_string());
        let source = match self.used.get(&name) {
            Some(source) => Arc::clone(source),
            None => imported(&path, dims, &self.notes)?,
        };
        self.used.insert(name, Arc::clone(&source));
        self.opened.insert(path);
        let notes = self.notes.clone();
        Ok(Some(Document { notes, ..Document::alone(source) }))
    }
}

/// The network of an ONNX file whose open axes have these extents, which are its parameters.
pub(super) fn parametrised(model: &mut Arc<Model>, dims: &ParameterValues) {
    let parameters = dims.iter().map(|(name, extent)| Parameter::new(name, extent)).collect();
    let network = Network::clone(&model.network).with_parameters(parameters);
    Arc::make_mut(model).network = Arc::new(network);
}

//! What the machine can make beyond numbers and lists: arrays, matrices, dicts.

use super::globals::Global;
use super::machine::{ITEM_BYTES, Machine};
use super::text::encode_latin1;
use super::value::{ArrayState, Blob, Item, Object};
use crate::error::Result;
use crate::read::numpy::{ElementType, Layout, NumpyArray, byte_order};
use crate::read::text::shown;

impl Machine<'_> {
    /// What a call of one of the known names gives; `of_class` if it is the
    /// class itself that is asked for a new object.
    pub(super) fn make(&mut self, callable: Item, arguments: Item, of_class: bool) -> Result<Item> {
        let Some(Object::Global(global)) = self.object(callable) else {
            return Err(self.wrong("a call of something that is not a name"));
        };
        let global = *global;
        let Some(arguments) = self.tuple(arguments).map(<[Item]>::to_vec) else {
            return Err(self.wrong("a call whose arguments are not a tuple"));
        };
        let global_at = |index: usize| match self.object(arguments.get(index).copied()?) {
            Some(Object::Global(global)) => Some(*global),
            _ => None,
        };
        match (global, &arguments[..]) {
            (Global::Reconstruct, _) if !of_class && global_at(0) == Some(Global::NdArray) => {
                self.keep(0, Object::Array(None))
            }
            (Global::Dtype, [notation, ..]) if !of_class => {
                let notation = self.text_of(*notation).unwrap_or_default();
                match Layout::parse(&notation) {
                    Some(layout) => self.keep(0, Object::Dtype(layout)),
                    None => Err(self.refused(format!(
                        "an array with elements of type {}",
                        shown(notation.as_bytes())
                    ))),
                }
            }
            (Global::Scalar, [dtype, data]) if !of_class => self.scalar(*dtype, *data),
            (Global::CsrMatrix, []) if of_class => self.keep(0, Object::Csr(None)),
            (Global::Reconstructor, [_, _, Item::None])
                if global_at(0) == Some(Global::CsrMatrix) && global_at(1) == Some(Global::Object) =>
            {
                self.keep(0, Object::Csr(None))
            }
            (Global::DefaultDict, [] | [_]) | (Global::OrderedDict, []) => {
                self.keep(0, Object::Dict(Vec::new()))
            }
            // Python 2 gives an ordered dict a list of [key, value] lists.
            (Global::OrderedDict, [list]) => {
                let entries = self.entries(*list);
                let entries =
                    entries.ok_or_else(|| self.wrong("an OrderedDict of something other than pairs"))?;
                self.keep(entries.len().saturating_mul(ITEM_BYTES), Object::Dict(entries))
            }
            (Global::List, []) => self.keep(0, Object::List(Vec::new())),
            (Global::Bytes, []) => self.keep(0, Object::Bytes(Blob::Own(Vec::new()))),
            (Global::Encode, [text, encoding]) if !of_class => {
                let encoding = self.text_of(*encoding).unwrap_or_default();
                let bytes = match self.object(*text) {
                    Some(Object::Text(text)) if matches!(&encoding[..], "latin1" | "latin-1") => {
                        encode_latin1(text)
                    }
                    _ => None,
                };
                let bytes = bytes.ok_or_else(|| self.wrong("text that is not to be encoded in Latin-1"))?;
                self.keep(bytes.len(), Object::Bytes(Blob::Own(bytes)))
            }
            _ => Err(self.wrong(format!("{global:?} is not called in the way it has to be"))),
        }
    }

    fn entries(&self, list: Item) -> Option<Vec<(Item, Item)>> {
        let Object::List(pairs) = self.object(list)? else {
            return None;
        };
        let pair = |pair: &Item| match self.object(*pair)? {
            Object::List(pair) | Object::Tuple(pair) => match pair[..] {
                [key, value] => Some((key, value)),
                _ => None,
            },
            _ => None,
        };
        pairs.iter().map(pair).collect()
    }

    /// A number that is an object of NumPy's.
    fn scalar(&mut self, dtype: Item, data: Item) -> Result<Item> {
        let (Some(Object::Dtype(layout)), Some(data)) = (self.object(dtype), self.blob(data)) else {
            return Err(self.wrong("a NumPy number without a type or without bytes"));
        };
        let (layout, bytes) = (*layout, data.bytes(self.input.bytes).to_vec());
        let array = NumpyArray::new(self.input.file, layout, false, vec![1], bytes.clone().into());
        let array = array.map_err(|problem| self.wrong(problem))?;
        let little = |bytes: &[u8]| -> Option<[u8; 8]> {
            let mut bytes: [u8; 8] = bytes.try_into().ok()?;
            if layout.big_endian {
                bytes.reverse();
            }
            Some(bytes)
        };
        let number = match layout.element {
            ElementType::Bool => Some(Item::Bool(bytes != [0])),
            // In full, not by way of f32.
            ElementType::F64 => little(&bytes).map(|bytes| Item::Float(f64::from_le_bytes(bytes))),
            ElementType::F32 => array
                .to_floats()?
                .first()
                .map(|value| Item::Float((*value).into())),
            ElementType::Text { .. } => None,
            _ => array.to_integers()?.first().map(|value| Item::Int(*value)),
        };
        number.ok_or_else(|| self.wrong("a NumPy number that is not a number"))
    }

    /// Sets the state of the object on top of the stack.
    pub(super) fn set_state(&mut self, state: Item) -> Result<()> {
        match self.top()? {
            Some(Object::Csr(_)) => {
                if !matches!(self.object(state), Some(Object::Dict(_))) {
                    return Err(self.wrong("the state of a CSR matrix is not a dict"));
                }
                self.replace_top(Object::Csr(Some(state)))
            }
            Some(Object::Dtype(layout)) => {
                let layout = *layout;
                let layout = self.dtype_state(layout, state)?;
                self.replace_top(Object::Dtype(layout))
            }
            Some(Object::Array(_)) => {
                let state = self.array_state(state)?;
                // A string that several arrays are made of is copied for each.
                let copied = match &state.data {
                    Blob::Own(bytes) => bytes.len(),
                    _ => 0,
                };
                self.charge(state.shape.len().saturating_mul(8).saturating_add(copied))?;
                self.replace_top(Object::Array(Some(state)))
            }
            _ => Err(self.wrong("a state is set of something that has none")),
        }
    }

    fn replace_top(&mut self, object: Object) -> Result<()> {
        if let Some(top) = self.top()? {
            *top = object;
        }
        Ok(())
    }

    /// (version, byte order, subtype, names, fields, ...), of which only the
    /// byte order may be anything.
    fn dtype_state(&self, layout: Layout, state: Item) -> Result<Layout> {
        let Some([_, order, Item::None, Item::None, Item::None, ..]) = self.tuple(state) else {
            return Err(self.refused("an array with elements of a structured type".into()));
        };
        let order = self.text_of(*order).unwrap_or_default();
        let mut order = order.chars();
        match (order.next().and_then(byte_order), order.next()) {
            (Some(big_endian), None) => Ok(Layout { big_endian, ..layout }),
            _ => Err(self.wrong("an element type has no byte order")),
        }
    }

    /// (version, shape, element type, whether in Fortran's order, bytes).
    fn array_state(&self, state: Item) -> Result<ArrayState> {
        let parts = match self.tuple(state) {
            Some([_, shape, dtype, fortran, data]) => {
                let fortran = match fortran {
                    Item::Bool(fortran) => Some(*fortran),
                    Item::Int(fortran) => Some(*fortran != 0),
                    _ => None,
                };
                let layout = match self.object(*dtype) {
                    Some(Object::Dtype(layout)) => Some(*layout),
                    _ => None,
                };
                (self.tuple(*shape), layout, fortran, self.blob(*data))
            }
            _ => (None, None, None, None),
        };
        let (Some(shape), Some(layout), Some(fortran), Some(data)) = parts else {
            return Err(self.wrong("the state of an array is not (version, shape, type, order, bytes)"));
        };
        let length = |item: &Item| match item {
            Item::Int(length) => usize::try_from(*length).ok(),
            _ => None,
        };
        let shape: Option<Vec<usize>> = shape.iter().map(length).collect();
        let shape = shape.ok_or_else(|| self.wrong("a length in the shape of an array is not one"))?;
        let bytes = data.bytes(self.input.bytes);
        let checked = NumpyArray::new(self.input.file, layout, fortran, shape.clone(), bytes.into());
        checked.map_err(|problem| self.wrong(problem))?;
        Ok(ArrayState {
            layout,
            fortran,
            shape,
            data,
        })
    }
}

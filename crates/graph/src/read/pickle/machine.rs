//! The stack machine.

use std::collections::HashMap;
use std::path::Path;

use super::globals::Global;
use super::input::Input;
use super::text::{encode_latin1, latin1, parse_text, raw_unicode, unescape};
use super::value::{Blob, Item, Object};
use crate::error::{Error, Result};
use crate::read::text::{parse_integer, shown};

/// Marks within marks. The content we read needs a handful.
const DEPTH_LIMIT: usize = 1 << 12;
/// What one may have been kept for later. Graphs keep one list per node.
const MEMO_LIMIT: usize = 1 << 26;

/// What an object, a stack or memo entry is charged, over its content.
const OBJECT_BYTES: usize = size_of::<Object>();
pub(super) const ITEM_BYTES: usize = 2 * size_of::<Item>();
const MEMO_BYTES: usize = 4 * size_of::<Item>();

pub(super) struct Machine<'a> {
    pub(super) input: Input<'a>,
    stack: Vec<Item>,
    /// Where on the stack the marks are.
    marks: Vec<usize>,
    memo: HashMap<u64, Item>,
    objects: Vec<Object>,
    /// An upper bound on the memory that objects take.
    memory: u64,
    limit: u64,
}

impl<'a> Machine<'a> {
    pub(super) fn new(bytes: &'a [u8], file: &'a Path, limit: u64) -> Self {
        Self {
            input: Input::new(bytes, file),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            objects: Vec::new(),
            memory: 0,
            limit,
        }
    }

    /// Runs to the end: the objects, and which of them was pickled.
    pub(super) fn run(mut self) -> Result<(Vec<Object>, Item)> {
        loop {
            let opcode = self.input.instruction()?;
            if opcode == b'.' {
                let root = self.pop()?;
                self.input.expect_end()?;
                return Ok((self.objects, root));
            }
            self.step(opcode)?;
        }
    }

    fn step(&mut self, opcode: u8) -> Result<()> {
        match opcode {
            // The stack.
            b'(' => {
                if self.marks.len() >= DEPTH_LIMIT {
                    return Err(self.wrong(format!("marks are nested more than {DEPTH_LIMIT} deep")));
                }
                self.marks.push(self.stack.len());
                Ok(())
            }
            b'0' => self.pop().map(drop),
            b'1' => self.pop_to_mark().map(drop),
            b'2' => {
                let top = self.pop()?;
                self.push(top)?;
                self.push(top)
            }
            // The memo.
            b'p' => {
                let key = self.input.line()?;
                let key = self.key(key)?;
                self.remember(key)
            }
            b'q' => {
                let key = u64::from(self.input.byte()?);
                self.remember(key)
            }
            b'r' => {
                let key = u64::from(u32::from_le_bytes(self.input.array()?));
                self.remember(key)
            }
            0x94 => self.remember(self.memo.len() as u64),
            b'g' => {
                let key = self.input.line()?;
                let key = self.key(key)?;
                self.recall(key)
            }
            b'h' => {
                let key = u64::from(self.input.byte()?);
                self.recall(key)
            }
            b'j' => {
                let key = u64::from(u32::from_le_bytes(self.input.array()?));
                self.recall(key)
            }
            // Numbers.
            b'N' => self.push(Item::None),
            0x88 => self.push(Item::Bool(true)),
            0x89 => self.push(Item::Bool(false)),
            b'I' => match self.input.line()? {
                b"00" => self.push(Item::Bool(false)),
                b"01" => self.push(Item::Bool(true)),
                digits => self.push_decimal(digits),
            },
            b'L' => {
                let digits = self.input.line()?;
                self.push_decimal(digits.strip_suffix(b"L").unwrap_or(digits))
            }
            b'J' => {
                let value = i32::from_le_bytes(self.input.array()?);
                self.push(Item::Int(value.into()))
            }
            b'K' => {
                let value = self.input.byte()?;
                self.push(Item::Int(value.into()))
            }
            b'M' => {
                let value = u16::from_le_bytes(self.input.array()?);
                self.push(Item::Int(value.into()))
            }
            0x8a => {
                let length = usize::from(self.input.byte()?);
                self.push_long(length)
            }
            0x8b => {
                let length = self.input.length32()?;
                self.push_long(length)
            }
            b'F' => {
                let text = self.input.line()?;
                match parse_text::<f64>(text) {
                    Some(value) => self.push(Item::Float(value)),
                    None => Err(self.wrong(format!("`{}` is not a number", shown(text)))),
                }
            }
            b'G' => {
                let value = f64::from_be_bytes(self.input.array()?);
                self.push(Item::Float(value))
            }
            // Bytes and text.
            b'T' | b'B' => {
                let length = self.input.length32()?;
                self.push_bytes(length)
            }
            b'U' | b'C' => {
                let length = usize::from(self.input.byte()?);
                self.push_bytes(length)
            }
            0x8e => {
                let length = self.input.length64()?;
                self.push_bytes(length)
            }
            b'S' => {
                let line = self.input.line()?;
                let bytes = unescape(line)
                    .ok_or_else(|| self.wrong(format!("`{}` is not a quoted string", shown(line))))?;
                self.push_object(bytes.len(), Object::Bytes(Blob::Own(bytes)))
            }
            b'V' => {
                let line = self.input.line()?;
                let text =
                    raw_unicode(line).ok_or_else(|| self.wrong(format!("`{}` is not text", shown(line))))?;
                self.push_object(text.len(), Object::Text(text))
            }
            b'X' => {
                let length = self.input.length32()?;
                self.push_text(length)
            }
            0x8c => {
                let length = usize::from(self.input.byte()?);
                self.push_text(length)
            }
            0x8d => {
                let length = self.input.length64()?;
                self.push_text(length)
            }
            // Collections.
            b']' => self.push_object(0, Object::List(Vec::new())),
            b'}' => self.push_object(0, Object::Dict(Vec::new())),
            b')' => self.push_object(0, Object::Tuple(Vec::new())),
            b'l' => {
                let items = self.pop_to_mark()?;
                self.push_object(0, Object::List(items))
            }
            b't' => {
                let items = self.pop_to_mark()?;
                self.push_object(0, Object::Tuple(items))
            }
            b'd' => {
                let items = self.pop_to_mark()?;
                let entries = self.pairs(&items)?;
                self.push_object(0, Object::Dict(entries))
            }
            0x85..=0x87 => {
                let mut items = Vec::new();
                for _ in 0..=opcode - 0x85 {
                    items.push(self.pop()?);
                }
                items.reverse();
                self.push_object(0, Object::Tuple(items))
            }
            b'a' => {
                let item = self.pop()?;
                self.append(&[item])
            }
            b'e' => {
                let items = self.pop_to_mark()?;
                self.append(&items)
            }
            b's' => {
                let value = self.pop()?;
                let key = self.pop()?;
                self.set_items(&[key, value])
            }
            b'u' => {
                let items = self.pop_to_mark()?;
                self.set_items(&items)
            }
            // Objects.
            b'c' => {
                let (module, name) = (self.input.line()?, self.input.line()?);
                self.push_global(&latin1(module), &latin1(name))
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let name = self.text_of(name).unwrap_or_default();
                let module = self.text_of(module).unwrap_or_default();
                self.push_global(&module, &name)
            }
            b'R' | 0x81 => {
                let (arguments, callable) = (self.pop()?, self.pop()?);
                let made = self.make(callable, arguments, opcode == 0x81)?;
                self.push(made)
            }
            b'b' => {
                let state = self.pop()?;
                self.set_state(state)
            }
            // The frame.
            0x80 => match self.input.byte()? {
                0..=4 => Ok(()),
                version => Err(self.wrong(format!("protocol {version}: protocols 0 to 4 are read"))),
            },
            0x95 => {
                let length = self.input.length64()?;
                if length > self.input.remaining() {
                    return Err(self.wrong("a frame reaches beyond the end of the file"));
                }
                Ok(())
            }
            b'i' => {
                let (module, name) = (self.input.line()?, self.input.line()?);
                Err(self.refused(format!("{}.{}", shown(module), shown(name))))
            }
            other => Err(self.wrong(format!(
                "instruction 0x{other:02x} is not one that is carried out"
            ))),
        }
    }

    fn push(&mut self, item: Item) -> Result<()> {
        self.charge(ITEM_BYTES)?;
        self.stack.push(item);
        Ok(())
    }

    fn push_object(&mut self, content: usize, object: Object) -> Result<()> {
        let item = self.keep(content, object)?;
        self.push(item)
    }

    /// Puts an object where others can refer to it.
    pub(super) fn keep(&mut self, content: usize, object: Object) -> Result<Item> {
        self.charge(OBJECT_BYTES.saturating_add(content))?;
        let index = u32::try_from(self.objects.len()).map_err(|_| self.wrong("more than 2^32 objects"))?;
        self.objects.push(object);
        Ok(Item::Object(index))
    }

    pub(super) fn charge(&mut self, bytes: usize) -> Result<()> {
        self.memory = self.memory.saturating_add(bytes as u64);
        if self.memory > self.limit {
            return Err(self.wrong(format!(
                "the objects take more than {} bytes; if the file can be trusted, read it with a higher limit",
                self.limit
            )));
        }
        Ok(())
    }

    /// Takes what is on top, but nothing from below a mark.
    fn pop(&mut self) -> Result<Item> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err(self.wrong("an instruction takes from an empty stack"));
        }
        self.stack
            .pop()
            .ok_or_else(|| self.wrong("an instruction takes from an empty stack"))
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Item>> {
        match self.marks.pop() {
            Some(mark) if mark <= self.stack.len() => Ok(self.stack.split_off(mark)),
            _ => Err(self.wrong("an instruction looks for a mark that is not there")),
        }
    }

    fn key(&self, digits: &[u8]) -> Result<u64> {
        parse_text(digits).ok_or_else(|| self.wrong(format!("`{}` is not a key", shown(digits))))
    }

    fn remember(&mut self, key: u64) -> Result<()> {
        let item = self.pop()?;
        self.stack.push(item);
        self.charge(MEMO_BYTES)?;
        if self.memo.len() >= MEMO_LIMIT {
            return Err(self.wrong(format!("more than {MEMO_LIMIT} objects are kept for later")));
        }
        self.memo.insert(key, item);
        Ok(())
    }

    fn recall(&mut self, key: u64) -> Result<()> {
        match self.memo.get(&key) {
            Some(item) => self.push(*item),
            None => Err(self.wrong(format!("nothing was kept under key {key}"))),
        }
    }

    fn push_decimal(&mut self, digits: &[u8]) -> Result<()> {
        match parse_integer(digits) {
            Some(value) => self.push(Item::Int(value)),
            None => Err(self.wrong(format!("`{}` is not a whole number of 64 bits", shown(digits)))),
        }
    }

    /// Two's complement, little endian, of any length.
    fn push_long(&mut self, length: usize) -> Result<()> {
        let bytes = self.input.take(length)?;
        let fill = match bytes.last() {
            Some(last) if last & 0x80 != 0 => 0xff,
            _ => 0,
        };
        let mut value = [fill; 8];
        for (to, from) in value.iter_mut().zip(bytes) {
            *to = *from;
        }
        let value = i64::from_le_bytes(value);
        let beyond = bytes.get(8..).unwrap_or_default();
        if beyond.iter().any(|byte| *byte != fill) || (value < 0) != (fill == 0xff) {
            return Err(self.wrong("a whole number does not fit 64 bits"));
        }
        self.push(Item::Int(value))
    }

    fn push_bytes(&mut self, length: usize) -> Result<()> {
        let range = self.input.skip(length)?;
        self.push_object(0, Object::Bytes(Blob::At(range)))
    }

    fn push_text(&mut self, length: usize) -> Result<()> {
        let bytes = self.input.take(length)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                let text = text.to_owned();
                self.push_object(length, Object::Text(text))
            }
            Err(_) => Err(self.wrong("text is not UTF-8")),
        }
    }

    fn pairs(&self, items: &[Item]) -> Result<Vec<(Item, Item)>> {
        let (pairs, rest) = items.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(self.wrong("a dict is given a key without a value"));
        }
        Ok(pairs.iter().map(|[key, value]| (*key, *value)).collect())
    }

    /// Adds to the list on top of the stack.
    fn append(&mut self, items: &[Item]) -> Result<()> {
        self.charge(items.len().saturating_mul(ITEM_BYTES))?;
        match self.top()? {
            Some(Object::List(list)) => {
                list.extend_from_slice(items);
                Ok(())
            }
            _ => Err(self.wrong("items are appended to something that is not a list")),
        }
    }

    /// Adds to the dict on top of the stack.
    fn set_items(&mut self, items: &[Item]) -> Result<()> {
        self.charge(items.len().saturating_mul(ITEM_BYTES))?;
        let pairs = self.pairs(items)?;
        match self.top()? {
            Some(Object::Dict(entries)) => {
                entries.extend(pairs);
                Ok(())
            }
            _ => Err(self.wrong("entries are set in something that is not a dict")),
        }
    }

    /// The object on top of the stack, which stays there.
    pub(super) fn top(&mut self) -> Result<Option<&mut Object>> {
        let item = self.pop()?;
        self.stack.push(item);
        Ok(match item {
            Item::Object(index) => self.objects.get_mut(index as usize),
            _ => None,
        })
    }

    pub(super) fn object(&self, item: Item) -> Option<&Object> {
        match item {
            Item::Object(index) => self.objects.get(index as usize),
            _ => None,
        }
    }

    pub(super) fn text_of(&self, item: Item) -> Option<String> {
        match self.object(item)? {
            Object::Text(text) => Some(text.clone()),
            Object::Bytes(blob) => Some(latin1(blob.bytes(self.input.bytes))),
            _ => None,
        }
    }

    pub(super) fn tuple(&self, item: Item) -> Option<&[Item]> {
        match self.object(item)? {
            Object::Tuple(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn blob(&self, item: Item) -> Option<Blob> {
        match self.object(item)? {
            Object::Bytes(blob) => Some(blob.clone()),
            // A string of Python 2 that was read and written again by Python 3.
            Object::Text(text) => encode_latin1(text).map(Blob::Own),
            _ => None,
        }
    }

    fn push_global(&mut self, module: &str, name: &str) -> Result<()> {
        match Global::find(module, name) {
            Some(global) => self.push_object(0, Object::Global(global)),
            None => Err(self.refused(format!("{}.{}", shown(module.as_bytes()), shown(name.as_bytes())))),
        }
    }

    pub(super) fn wrong(&self, problem: impl Into<String>) -> Error {
        self.input.wrong(problem)
    }

    pub(super) fn refused(&self, name: String) -> Error {
        self.input.refused(name)
    }
}

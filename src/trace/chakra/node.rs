//! Nodes of execution traces: the fields and attributes that have a meaning here.
//!
//! Source: `et_def.proto` of Chakra (MLCommons), and the attributes that its converters and ASTRA-sim use.

use std::borrow::Cow;

use super::wire::{Message, Value};
use crate::trace::fault::{Fault, fault, mistake};

/// Type of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum NodeType {
    #[default]
    Metadata = 1,
    Load,
    Store,
    Compute,
    Send,
    Recv,
    Collective,
}

impl NodeType {
    const ALL: [Self; 7] =
        [Self::Metadata, Self::Load, Self::Store, Self::Compute, Self::Send, Self::Recv, Self::Collective];
}

/// Numbers of the fields of a node.
pub(super) mod number {
    pub const ID: u32 = 1;
    pub const NAME: u32 = 2;
    pub const TYPE: u32 = 3;
    pub const CONTROL: u32 = 4;
    pub const DATA: u32 = 5;
    pub const DURATION: u32 = 7;
    pub const INPUTS: u32 = 8;
    pub const ATTRIBUTE: u32 = 10;
    /// Fields of attributes.
    pub const DOUBLE: u32 = 3;
    pub const INT32: u32 = 7;
    pub const INT64: u32 = 9;
    pub const UINT64: u32 = 13;
    pub const BOOL: u32 = 27;
    pub const STRING: u32 = 29;
}

/// A node.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Offset of the node in the file.
    pub at: u64,
    pub id: u64,
    pub kind: NodeType,
    /// True if its name is that of a definition of process groups.
    pub is_init: bool,
    pub control: Vec<u64>,
    pub data: Vec<u64>,
    /// Recorded time \[us\].
    pub duration: u64,
    /// Recorded time of a trace that Hayase wrote \[ps\].
    pub duration_ps: Option<f64>,
    /// Text of the inputs, which defines groups in nodes of metadata.
    pub inputs: Vec<u8>,
    pub is_host: bool,
    pub operations: Option<u64>,
    pub tensor: Option<u64>,
    pub collective: Option<u64>,
    pub bytes: Option<u64>,
    pub src: Option<u64>,
    pub dst: Option<u64>,
    pub root: Option<u64>,
    pub tag: Option<u64>,
    /// Stream of the device, or thread of the host.
    pub stream: Option<i128>,
    pub thread: Option<i128>,
    /// Name of the process group.
    pub group: String,
}

/// Value of an attribute.
enum Attribute<'a> {
    Integer(i128),
    Number(f64),
    Text(Cow<'a, str>),
    Other,
}

impl Node {
    /// Reads a node.
    pub fn read(message: Message<'_>) -> Result<Self, Fault> {
        const INIT: &[u8] = b"process_group:init";
        let mut node = Self { at: message.at(), ..Self::default() };
        let mut kind = (message.at(), 0);
        message.each(|field| {
            match field.number {
                number::ID => node.id = field.integer()?,
                number::NAME => node.is_init = field.message()?.bytes.windows(INIT.len()).any(|part| part == INIT),
                number::TYPE => kind = (field.at, field.integer()?),
                number::CONTROL => field.numbers(&mut node.control)?,
                number::DATA => field.numbers(&mut node.data)?,
                number::DURATION => node.duration = field.integer()?,
                number::INPUTS if node.is_init => field.message()?.each(|field| {
                    if let (1, Value::Bytes(values)) = (field.number, field.value) {
                        node.inputs.extend_from_slice(values.bytes);
                    }
                    Ok(())
                })?,
                number::ATTRIBUTE => node.attribute(field.message()?)?,
                _ => {}
            }
            Ok(())
        })?;
        let (at, number) = kind;
        let found = NodeType::ALL.into_iter().find(|kind| *kind as u64 == number);
        let Some(found) = found else {
            let expected = "1 (metadata), 2, 3 (memory), 4 (computation), 5 (send), 6 (receive) or 7 (collective)";
            return mistake("unknown-type", at, format!("node {} has type {number}; expected is {expected}", node.id));
        };
        node.kind = found;
        Ok(node)
    }

    fn attribute(&mut self, message: Message<'_>) -> Result<(), Fault> {
        let at = message.at();
        let (mut name, mut found) = (&[][..], Attribute::Other);
        message.each(|field| {
            match field.number {
                1 => name = field.message()?.bytes,
                2 => {}
                number => found = attribute(number, field.value),
            }
            Ok(())
        })?;
        let (id, name) = (self.id, String::from_utf8_lossy(name));
        let integer = |what: &str| match &found {
            Attribute::Integer(value) => Ok(*value),
            Attribute::Number(value) if *value == value.trunc() => Ok(*value as i128),
            Attribute::Text(text) if text.parse::<i128>().is_ok() => Ok(text.parse().unwrap_or_default()),
            _ => fault(at, format!("attribute `{name}` of node {id} is no {what}")),
        };
        let whole = || {
            let value = integer("whole number from 0 on")?;
            match u64::try_from(value) {
                Ok(value) => Ok(Some(value)),
                Err(_) => {
                    fault(at, format!("attribute `{name}` of node {id} is {value}, and a number from 0 on is expected"))
                }
            }
        };
        match &*name {
            "is_cpu_op" => self.is_host = integer("truth value")? != 0,
            "num_ops" => self.operations = whole()?,
            "tensor_size" => self.tensor = whole()?,
            "comm_type" => self.collective = whole()?,
            "comm_size" => self.bytes = whole()?,
            "comm_src" => self.src = whole()?,
            "comm_dst" => self.dst = whole()?,
            "comm_root" => self.root = whole()?,
            "comm_tag" => self.tag = whole()?,
            "stream" => self.stream = Some(integer("whole number")?),
            "tid" => self.thread = Some(integer("whole number")?),
            "duration_ps" => match found {
                Attribute::Number(time) if time >= 0.0 && time.is_finite() => self.duration_ps = Some(time),
                _ => return fault(at, "`duration_ps` is no time"),
            },
            "pg_name" | "comm_group" => {
                self.group = match &found {
                    Attribute::Text(text) => text.clone().into_owned(),
                    _ => integer("name or number of a group")?.to_string(),
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the value of an attribute in the field with this number.
fn attribute(field: u32, value: Value<'_>) -> Attribute<'_> {
    match (field, value) {
        (number::DOUBLE, Value::Fixed64(bits)) => Attribute::Number(f64::from_bits(bits)),
        (5, Value::Fixed32(bits)) => Attribute::Number(f32::from_bits(bits).into()),
        // A negative number of 32 bits takes ten bytes, as one of 64.
        (number::INT32 | number::INT64, Value::Varint(value)) => Attribute::Integer((value as i64).into()),
        (11 | number::UINT64 | number::BOOL, Value::Varint(value)) => Attribute::Integer(value.into()),
        (15 | 17, Value::Varint(value)) => Attribute::Integer(((value >> 1) as i64 ^ -((value & 1) as i64)).into()),
        (19, Value::Fixed32(value)) => Attribute::Integer(value.into()),
        (21, Value::Fixed64(value)) => Attribute::Integer(value.into()),
        (23, Value::Fixed32(value)) => Attribute::Integer((value as i32).into()),
        (25, Value::Fixed64(value)) => Attribute::Integer((value as i64).into()),
        (number::STRING, Value::Bytes(text)) => Attribute::Text(String::from_utf8_lossy(text.bytes)),
        _ => Attribute::Other,
    }
}

//! As much of Thrift's compact protocol as page headers and a check of the schema need.

use std::collections::BTreeSet;

/// The fields of one struct.
pub(super) struct Fields<'b> {
    bytes: &'b [u8],
    pub at: usize,
}

/// Structs inside of structs; a page header has two levels, its statistics included.
const DEPTH: u32 = 8;

/// The end of the bytes, or the reason why they are wrong.
pub(super) enum Stop {
    CutOff,
    Wrong(&'static str),
}

impl Stop {
    fn text(self) -> &'static str {
        match self {
            Stop::CutOff => "it is cut off",
            Stop::Wrong(what) => what,
        }
    }
}

impl<'b> Fields<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Fields { bytes, at: 0 }
    }

    /// Calls `act` with the number and the value of each field that is a number or a truth value,
    /// and the field of the outer struct that it is in. Returns the length of the struct, or
    /// `None` if the bytes end before it.
    pub fn each(
        &mut self,
        mut act: impl FnMut(i64, Option<i64>, Option<i64>),
    ) -> Result<Option<usize>, &'static str> {
        match self.structure(None, 0, &mut act) {
            Ok(()) => Ok(Some(self.at)),
            Err(Stop::CutOff) => Ok(None),
            Err(Stop::Wrong(what)) => Err(what),
        }
    }

    /// In the struct of a footer, the numbers of children of the schema's nodes, in depth-first
    /// order.
    pub(crate) fn schema_children(&mut self) -> Result<Vec<u64>, &'static str> {
        const SCHEMA: i64 = 2;
        const NUM_CHILDREN: i64 = 5;
        let mut children = Vec::new();
        self.fields(&mut |footer, field, kind| match field {
            SCHEMA => footer.structs(kind, &mut |nodes, _| {
                let mut found = 0;
                nodes.structure(None, 0, &mut |field, value, within| {
                    if (field, within) == (NUM_CHILDREN, None) {
                        found = value.unwrap_or_default();
                    }
                })?;
                let found = u64::try_from(found);
                children.push(found.map_err(|_| Stop::Wrong("a negative number of children"))?);
                Ok(())
            }),
            _ => footer.value(kind, 0),
        })
        .map_err(Stop::text)?;
        Ok(children)
    }

    /// In the struct of a footer, the numbers of the columns that are encrypted in a row group.
    pub(crate) fn encrypted_columns(&mut self) -> Result<BTreeSet<u64>, &'static str> {
        const ROW_GROUPS: i64 = 4;
        const COLUMNS: i64 = 1;
        const CRYPTO_METADATA: i64 = 8;
        const ENCRYPTED_METADATA: i64 = 9;
        let mut found = BTreeSet::new();
        self.fields(&mut |footer, field, kind| match field {
            ROW_GROUPS => footer.structs(kind, &mut |groups, _| {
                groups.fields(&mut |group, field, kind| match field {
                    COLUMNS => group.structs(kind, &mut |columns, number| {
                        columns.fields(&mut |column, field, kind| {
                            if matches!(field, CRYPTO_METADATA | ENCRYPTED_METADATA) {
                                found.insert(number);
                            }
                            column.value(kind, 0)
                        })
                    }),
                    _ => group.value(kind, 0),
                })
            }),
            _ => footer.value(kind, 0),
        })
        .map_err(Stop::text)?;
        Ok(found)
    }

    /// Calls `act` with the number and the type of each field of a struct, whose value it passes
    /// over.
    fn fields(
        &mut self,
        act: &mut dyn FnMut(&mut Self, i64, u8) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut field = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            field = match i64::from(head >> 4) {
                0 => self.zigzag()?,
                step => field.saturating_add(step),
            };
            act(self, field, head & 15)?;
        }
    }

    /// Calls `act` for each element of a list of structs, with its number.
    fn structs(
        &mut self,
        kind: u8,
        act: &mut dyn FnMut(&mut Self, u64) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if kind != 9 {
            return Err(Stop::Wrong("a field that is not a list"));
        }
        let (kind, count) = self.list()?;
        if kind != 12 && count > 0 {
            return Err(Stop::Wrong("a list that is not of structs"));
        }
        (0..count).try_for_each(|number| act(self, number))
    }

    /// The type of the elements of a list, and their number.
    fn list(&mut self) -> Result<(u8, u64), Stop> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        Ok((head & 15, count))
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        let byte = *self.bytes.get(self.at).ok_or(Stop::CutOff)?;
        self.at += 1;
        Ok(byte)
    }

    pub(super) fn skip(&mut self, n: u64) -> Result<(), Stop> {
        let n = usize::try_from(n).map_err(|_| Stop::CutOff)?;
        let end = self.at.checked_add(n).ok_or(Stop::CutOff)?;
        if end > self.bytes.len() {
            return Err(Stop::CutOff);
        }
        self.at = end;
        Ok(())
    }

    pub(super) fn varint(&mut self) -> Result<u64, Stop> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Stop::Wrong("a number of more than 64 bits"))
    }

    fn zigzag(&mut self) -> Result<i64, Stop> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn structure(
        &mut self,
        within: Option<i64>,
        depth: u32,
        act: &mut dyn FnMut(i64, Option<i64>, Option<i64>),
    ) -> Result<(), Stop> {
        if depth > DEPTH {
            return Err(Stop::Wrong("structs that are nested too deep"));
        }
        let top = depth <= 1;
        self.fields(&mut |fields, field, kind| {
            match kind {
                1 | 2 if top => act(field, Some(i64::from(kind == 1)), within),
                4..=6 => {
                    let value = fields.zigzag()?;
                    if top {
                        act(field, Some(value), within);
                    }
                }
                12 => fields.structure(Some(field), depth + 1, act)?,
                kind => fields.value(kind, depth)?,
            }
            Ok(())
        })
    }

    /// Passes over one value of a list or map, where a truth value is a byte. So every element has
    /// a byte, and no count makes the loops long.
    fn element(&mut self, kind: u8, depth: u32) -> Result<(), Stop> {
        match kind {
            1 | 2 => self.skip(1),
            kind => self.value(kind, depth + 1),
        }
    }

    /// Passes over a value that is not needed.
    fn value(&mut self, kind: u8, depth: u32) -> Result<(), Stop> {
        if depth > DEPTH {
            return Err(Stop::Wrong("values that are nested too deep"));
        }
        match kind {
            1 | 2 => Ok(()),
            3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let (kind, count) = self.list()?;
                for _ in 0..count {
                    self.element(kind, depth)?;
                }
                Ok(())
            }
            12 => self.structure(None, depth + 1, &mut |_, _, _| {}),
            13 => {
                let count = self.varint()?;
                if count == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                for _ in 0..count {
                    self.element(kinds >> 4, depth)?;
                    self.element(kinds & 15, depth)?;
                }
                Ok(())
            }
            16 => self.skip(16),
            _ => Err(Stop::Wrong("a type of value that does not exist")),
        }
    }
}

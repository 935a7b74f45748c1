//! The front of an input: bytes that choose parameters.

/// Takes numbers off the front of an input; zeros where there is nothing left.
pub struct Controls<'a> {
    rest: &'a [u8],
}

impl<'a> Controls<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Controls { rest: data }
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        let n = N.min(self.rest.len());
        out[..n].copy_from_slice(&self.rest[..n]);
        self.rest = &self.rest[n..];
        out
    }

    pub fn byte(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    /// Yes or no.
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// One of these.
    pub fn one_of<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.byte()) % from.len()]
    }

    /// So many bytes, or what is left of them.
    pub fn bytes(&mut self, n: usize) -> &'a [u8] {
        let (now, later) = self.rest.split_at(n.min(self.rest.len()));
        self.rest = later;
        now
    }

    /// Everything that is left.
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }
}

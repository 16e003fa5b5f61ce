//! The part of the interface of the crate `zstd` that Hayase uses, on a decoder in Rust. It takes the place of that
//! crate, which is C, on WebAssembly: `extern crate hayase_zstd as zstd`. Compression is refused there.

use std::io;

/// Readers of compressed streams.
pub mod stream {
    /// Reader of the decompressed bytes.
    pub mod read {
        use std::io::{self, BufRead, BufReader, Read};

        use ruzstd::decoding::StreamingDecoder;

        /// Reads the content of frames, one after another.
        pub struct Decoder<R: Read> {
            state: State<BufReader<R>>,
        }

        enum State<R: Read> {
            Between(R),
            Frame(Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
            Over,
        }

        impl<R: Read> Decoder<R> {
            /// Creates a reader.
            ///
            /// # Errors
            /// None; the first read reports a wrong start.
            pub fn new(bytes: R) -> io::Result<Self> {
                Ok(Self { state: State::Between(BufReader::new(bytes)) })
            }
        }

        impl<R: Read> Read for Decoder<R> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                if buffer.is_empty() {
                    return Ok(0);
                }
                loop {
                    self.state = match std::mem::replace(&mut self.state, State::Over) {
                        State::Over => return Ok(0),
                        State::Between(mut bytes) => match bytes.fill_buf()?.is_empty() {
                            true => return Ok(0),
                            false => {
                                State::Frame(Box::new(StreamingDecoder::new(bytes).map_err(super::super::failed)?))
                            }
                        },
                        State::Frame(mut frame) => match frame.read(buffer)? {
                            0 => State::Between(frame.into_inner()),
                            count => {
                                self.state = State::Frame(frame);
                                return Ok(count);
                            }
                        },
                    };
                }
            }
        }
    }
}

/// Whole blocks of bytes.
pub mod bulk {
    use std::io;

    /// Compressor that refuses to compress.
    pub struct Compressor<'a>(std::marker::PhantomData<&'a ()>);

    impl Compressor<'_> {
        /// Returns an error.
        ///
        /// # Errors
        /// Always: nothing is compressed here.
        pub fn new(_level: i32) -> io::Result<Self> {
            super::refuse()
        }

        /// Returns an error.
        ///
        /// # Errors
        /// Always: nothing is compressed here.
        pub fn compress_to_buffer(&mut self, _bytes: &[u8], _buffer: &mut [u8]) -> io::Result<usize> {
            super::refuse()
        }
    }

    /// Returns an error.
    ///
    /// # Errors
    /// Always: nothing is compressed here.
    pub fn compress(_bytes: &[u8], _level: i32) -> io::Result<Vec<u8>> {
        super::refuse()
    }

    /// Decompresses frames into a buffer; returns the size of the content \[B\].
    ///
    /// # Errors
    /// Fails if the bytes are no frames of zstd or the buffer is too small.
    pub fn decompress_to_buffer(bytes: &[u8], buffer: &mut [u8]) -> io::Result<usize> {
        ruzstd::decoding::FrameDecoder::new().decode_all(bytes, buffer).map_err(super::failed)
    }
}

/// Sizes of compressed bytes.
pub mod zstd_safe {
    /// Returns the largest size of `bytes` compressed bytes \[B\]; nothing is compressed here.
    pub fn compress_bound(bytes: usize) -> usize {
        bytes
    }
}

fn failed(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

fn refuse<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this program was built without compression by zstd"))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    #[test]
    fn frames_of_the_library_in_c_are_read_one_after_another() {
        let plain: Vec<u8> = (0..300_000_u32).flat_map(|number| (number % 977 * number).to_le_bytes()).collect();
        let (first, second) = plain.split_at(1_000_001);
        let mut packed = zstd::encode_all(first, 3).unwrap();
        packed.extend(zstd::encode_all(second, 1).unwrap());
        let mut read = Vec::new();
        super::stream::read::Decoder::new(&packed[..]).unwrap().read_to_end(&mut read).unwrap();
        assert!(read == plain);
        let mut buffer = vec![0; plain.len()];
        assert_eq!(super::bulk::decompress_to_buffer(&packed, &mut buffer).unwrap(), plain.len());
        assert!(buffer == plain);
    }

    #[test]
    fn damage_is_an_error_and_compression_is_refused() {
        let mut packed = zstd::encode_all(&[7; 5_000][..], 3).unwrap();
        packed.truncate(packed.len() - 2);
        assert!(super::stream::read::Decoder::new(&packed[..]).unwrap().read_to_end(&mut Vec::new()).is_err());
        assert!(super::bulk::decompress_to_buffer(b"no zstd at all", &mut [0; 99]).is_err());
        assert!(super::bulk::compress(b"some", 1).is_err() && super::bulk::Compressor::new(1).is_err());
    }
}

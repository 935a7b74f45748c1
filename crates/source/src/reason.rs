//! Why an input, or a record of it, is not used.

use serde::{Deserialize, Serialize};

use lookalike_base::keywords;

keywords! {
    /// Why a record was rejected, or a warning about a record that is used.
    ///
    /// [`Reason::text`] gives the text that appears under `reason` in `rejects.jsonl` and in the
    /// ledger.
    #[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Reason {
        // Reasons that concern the whole file, or the rest of it.
        /// The file could not be opened or read.
        Unreadable = "cannot be read",
        /// The file is empty.
        EmptyFile = "empty file",
        /// Neither text nor a known container.
        BinaryFile = "binary file",
        /// The compressed stream is damaged from here on.
        CorruptCompression = "compressed stream damaged",
        /// The compressed stream ends too early.
        TruncatedCompression = "compressed stream cut off",
        /// The stream expands by more than `--max-ratio` decompressed bytes per compressed byte.
        DecompressionBomb = "decompression ratio above --max-ratio",
        /// The decompressor needs more memory than the limit.
        DecompressorMemory = "decompressor needs too much memory",
        /// A format that is recognised but not supported.
        UnsupportedFormat = "format not supported",
        /// Neither a file nor a directory: a FIFO, socket or device.
        NotAFile = "not a regular file",
        /// The content does not have the format given by `--format`.
        WrongFormat = "not in the format given by --format",
        /// No element has the name given by `--record`.
        NoRecords = "no element given by --record",
        /// No object has the list given by `--records`.
        NoList = "no list given by --records",
        /// No line is matched by the expression given by `--split-at`.
        NoMatch = "no line that --split-at matches",
        // Reasons that concern one record.
        /// The record is larger than `--max-document`.
        TooLarge = "larger than --max-document",
        /// A record that begins but does not end.
        NotClosed = "DOC not closed",
        /// A record cut off by the end of the file.
        Truncated = "record cut off",
        /// No docno. As a warning: `FILE:RECORD` is used.
        MissingDocno = "no docno",
        /// No text field.
        MissingText = "no text field",
        /// Not valid JSON.
        BadJson = "not valid JSON",
        /// The footer, a page or a value of a Parquet file is damaged.
        BadParquet = "Parquet file damaged",
        /// The record header cannot be parsed.
        BadHeader = "record header not readable",
        /// The HTTP header cannot be parsed.
        BadHttp = "HTTP header not readable",
        /// An HTTP status other than 2xx.
        HttpStatus = "HTTP status not 2xx",
        /// The content type or the bytes show that the body is not text (an image, for example).
        NotText = "not text",
        /// The program of `--convert` failed, took too long, or printed no text.
        NotConverted = "not converted by --convert",
        /// Bytes between records that belong to no record.
        StrayBytes = "bytes between records",
        /// A row of a table that is not closed, or has more cells than the table has columns. As a
        /// warning: it has fewer.
        BadRow = "row does not fit its table",
        // Warnings: the document is used.
        /// The record states a wrong length; the true boundary was found.
        WrongLength = "wrong length stated",
        /// The body is declared as chunked but is not, or its chunks are broken.
        BadChunks = "chunked encoding broken",
        /// The body is declared as compressed but is not, or its stream is broken.
        BadContentEncoding = "content encoding broken",
        /// The declared charset is unknown, or the bytes are not valid in it.
        WrongCharset = "wrong charset declared",
        /// Bytes that are invalid in the charset were replaced by U+FFFD.
        InvalidBytes = "invalid bytes replaced",
        /// The record has not all of the fields that `--text-field` names.
        MissingField = "field of --text-field missing",
        /// A field of the text has values that are not text, such as the images of a message.
        PartsLeft = "part of a field left out",
        /// The text is a word that programs write for nothing: `NULL`, `nan`, `None`.
        PerhapsNull = "text is perhaps a null",
        /// Another document has the same docno.
        DuplicateDocno = "docno not unique",
        /// The path is not UTF-8; its bytes were escaped in the docno.
        OddPath = "path not UTF-8",
        /// An HTTP or record header line was skipped.
        OddHeader = "header line passed over",
        /// A file that was read as one document looks as if it had several.
        PerhapsSeveral = "perhaps several documents",
        /// The text looks as if it had been decoded from another charset than its own.
        DoubtfulText = "text looks wrongly decoded",
        /// The document has no words that could be compared, so it duplicates nothing.
        NotComparable = "text not comparable",
        /// Encoded files in the text were left out.
        EncodedText = "encoded text left out",
        /// Parts of a message with text were left out, such as attachments.
        MessageParts = "part of a message left out",
        /// Text behind a comment, a script or a quote without an end was left out.
        OpenMarkup = "markup not closed",
        /// Nearly all words of XML are in attributes, which do not count.
        AttributeText = "text in attributes left out",
        /// Elements beside those that are the text were left out.
        ElementsLeft = "elements beside the text left out",
    }
}

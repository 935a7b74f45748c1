"""Copies Parquet files row group by row group, decoding and encoding everything.

    copy_parquet.py FROM TO
"""
import os
import sys

import pyarrow.parquet


def main():
    source, target = sys.argv[1:]
    os.makedirs(target)
    for name in sorted(os.listdir(source)):
        file = pyarrow.parquet.ParquetFile(f"{source}/{name}")
        with pyarrow.parquet.ParquetWriter(f"{target}/{name}", file.schema_arrow, compression="zstd") as writer:
            for group in range(file.num_row_groups):
                writer.write_table(file.read_row_group(group, use_threads=False))


if __name__ == "__main__":
    main()

//! Arrow and Parquet, ORC, CSV, JSON lines; hardened decoding; spilling sort and join

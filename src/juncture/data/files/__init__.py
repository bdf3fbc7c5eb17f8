"""Tables from CSV and Parquet files."""

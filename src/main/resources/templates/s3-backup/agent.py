import hashlib
import os
import tempfile
from datetime import datetime, timedelta, timezone

import boto3
import requests
from botocore.config import Config

CHUNK_BYTES = 1 << 20


def main(request):
    options = request.payload
    now = datetime.now(timezone.utc)
    prefix = options["prefix"].rstrip("/") + "/"
    bucket = os.environ["S3_BUCKET"]
    settings = Config(retries={"max_attempts": 5, "mode": "standard"})
    s3 = boto3.client("s3", endpoint_url=os.environ.get("S3_ENDPOINT") or None, config=settings)
    with tempfile.TemporaryFile() as file:
        digest, size = download(options["url"], file)
        key = prefix + now.strftime("%Y-%m-%dT%H%M%SZ")
        file.seek(0)
        s3.put_object(Bucket=bucket, Key=key, Body=file, Metadata={"sha256": digest})
    print(f"Stored {size:,} bytes as {key}")
    removed = remove_old(s3, bucket, prefix, now - timedelta(days=options.get("keep_days", 30)))
    return {"key": key, "bytes": size, "sha256": digest, "removed": removed}


def download(url, file):
    digest, size = hashlib.sha256(), 0
    with requests.get(url, stream=True, timeout=60) as response:
        response.raise_for_status()
        for chunk in response.iter_content(CHUNK_BYTES):
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    if size == 0:
        raise ValueError(f"{url} is empty; the backup is not replaced by it")
    return digest.hexdigest(), size


def remove_old(s3, bucket, prefix, before):
    removed = []
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
        for item in page.get("Contents", []):
            if item["LastModified"] < before:
                s3.delete_object(Bucket=bucket, Key=item["Key"])
                removed.append(item["Key"])
    return removed

package dev.roost.file;

import dev.roost.config.RoostConfig;
import java.io.EOFException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;

/** Objects of a bucket of Amazon S3, or of another storage that speaks its protocol. */
final class BucketObjects implements ObjectStorage {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(30);

  /** Of a call with its retries: a script or a client waits for it. */
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(60);

  private final S3Client client;
  private final String bucket;
  private final String prefix;

  BucketObjects(RoostConfig.Files settings) {
    bucket = settings.bucket().orElseThrow();
    prefix = settings.prefix().orElse("");
    S3ClientBuilder builder =
        S3Client.builder()
            .region(Region.of(settings.region()))
            .httpClientBuilder(
                UrlConnectionHttpClient.builder()
                    .connectionTimeout(CONNECT_TIMEOUT)
                    .socketTimeout(READ_TIMEOUT))
            .overrideConfiguration(override -> override.apiCallTimeout(CALL_TIMEOUT))
            // Not all storages know the checksums that Amazon has added.
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED);
    settings
        .endpoint()
        .ifPresent(url -> builder.endpointOverride(URI.create(url)).forcePathStyle(true));
    settings
        .accessKey()
        .ifPresent(
            key ->
                builder.credentialsProvider(
                    StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(key, settings.secretKey().orElse("")))));
    client = builder.build();
  }

  @Override
  public void put(String key, byte[] bytes) throws IOException {
    try {
      client.putObject(
          request -> request.bucket(bucket).key(prefix + key), RequestBody.fromBytes(bytes));
    } catch (SdkException e) {
      throw failure(e);
    }
  }

  @Override
  public byte[] get(String key, int from, int length) throws IOException {
    String range = "bytes=" + from + "-" + (from + length - 1);
    try {
      byte[] bytes =
          client
              .getObjectAsBytes(request -> request.bucket(bucket).key(prefix + key).range(range))
              .asByteArrayUnsafe();
      if (bytes.length != length) {
        throw new EOFException("%s has other bytes than %s".formatted(key, range));
      }
      return bytes;
    } catch (NoSuchKeyException e) {
      throw new NoSuchFileException(key);
    } catch (SdkException e) {
      throw failure(e);
    }
  }

  @Override
  public void delete(String key) throws IOException {
    try {
      client.deleteObject(request -> request.bucket(bucket).key(prefix + key));
    } catch (SdkException e) {
      throw failure(e);
    }
  }

  private IOException failure(SdkException e) {
    return new IOException("the bucket " + bucket + ": " + e.getMessage(), e);
  }
}

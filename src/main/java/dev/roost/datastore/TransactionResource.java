package dev.roost.datastore;

import dev.roost.api.Body;
import dev.roost.api.BodySize;
import dev.roost.api.IdempotencyKey;
import dev.roost.api.JsonText;
import dev.roost.api.Takes;
import dev.roost.api.Text;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.ExampleObject;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Transactions over the entries of one DataStore. */
@Path("/v1/datastore/{id}/transactions")
@Produces(MediaType.APPLICATION_JSON)
@Consumes(MediaType.APPLICATION_JSON)
@Tag(name = "DataStores")
public class TransactionResource {
  private final Transactions transactions;

  TransactionResource(Transactions transactions) {
    this.transactions = transactions;
  }

  /** The result of a transaction. */
  @Schema(name = "TransactionResult")
  record Result(
      @Schema(
              description =
                  "The new version of each written entry, in the order of the writes; 0 for a deletion",
              examples = "[43, 0]")
          List<Long> versions,
      @Schema(
              description =
                  "The result of each increment, in the order of the writes; null for other writes",
              examples = "[null, null]")
          List<Double> sums) {}

  /** The body's schema, for the API reference. */
  @Schema(name = "TransactionRequest")
  record Request(
      @Schema(description = "The entries that were read; version 0 if the entry did not exist")
          List<Read> reads,
      @Schema(description = "The ranges that were read") List<RangeRead> ranges,
      @Schema(description = "The writes, at most one per key") List<WriteRequest> writes) {}

  @Schema(name = "TransactionRead")
  record Read(
      @Schema(required = true, description = "1 to 512 bytes of UTF-8", examples = "account/a")
          String key,
      @Schema(
              required = true,
              description = "The version that was read; 0 if the entry did not exist",
              examples = "41")
          long version) {}

  @Schema(name = "TransactionRange")
  record RangeRead(
      @Schema(description = "The prefix of the keys", examples = "user/") String prefix,
      @Schema(description = "The first key of the range, inclusive") String start,
      @Schema(description = "The key before the range, exclusive") String after,
      @Schema(description = "The last key of the range, inclusive") String through,
      @Schema(
              description =
                  "SHA-256, in hexadecimal, of the versions of the range's entries in the order of"
                      + " their keys, each as decimal digits and a line feed")
          String tag,
      @Schema(description = "The number of entries in the range; instead of tag, or in addition")
          Long count) {}

  @Schema(name = "TransactionWrite")
  record WriteRequest(
      @Schema(
              required = true,
              description =
                  "1 to 512 bytes of UTF-8. A write has exactly one of value, delete and increment",
              examples = "account/a")
          String key,
      @Schema(ref = "JsonText", description = "Any JSON value. Its exact text is stored")
          JsonText value,
      @Schema(description = "Only with value: the TTL of the entry in seconds") Double ttl,
      @Schema(description = "true deletes the entry, if it exists") Boolean delete,
      @Schema(
              description =
                  "The number to add to the current value, or to 0 if the entry does not exist")
          Double increment) {}

  @POST
  @Takes(BodySize.STORE_OPERATION)
  @Operation(
      operationId = "applyTransaction",
      summary = "Apply a transaction",
      description =
          "Applies all writes, or none if any of the entries and ranges that were read has changed. "
              + "Transactions and single operations are serializable.")
  @RequestBody(
      required = false,
      content =
          @Content(
              schema = @Schema(implementation = Request.class),
              examples =
                  @ExampleObject(
                      name = "move ten from a to b",
                      value =
                          "{\"reads\": [{\"key\": \"a\", \"version\": 41}, {\"key\": \"b\", \"version\": 7}],"
                              + " \"writes\": [{\"key\": \"a\", \"value\": 90}, {\"key\": \"b\", \"value\": 110}]}")))
  @APIResponse(
      responseCode = "200",
      description = "Applied",
      content = @Content(schema = @Schema(implementation = Result.class)))
  @APIResponse(responseCode = "409", ref = "conflict")
  public JsonText apply(
      @PathParam("id") String id,
      @Parameter(description = "Makes retries of the request safe for 24 hours")
          @HeaderParam("Idempotency-Key")
          String idempotencyKey,
      byte[] bytes) {
    IdempotencyKey.check(idempotencyKey);
    Body body = Body.parse(bytes);
    Transaction transaction = TransactionBody.OF_CLIENT.read(body);
    body.check();
    Access.Idempotency idempotency =
        idempotencyKey == null
            ? null
            : new Access.Idempotency(id, idempotencyKey, 1, Text.sha256(bytes));
    return transactions.run(Access.ofClient(id, idempotency), transaction);
  }
}

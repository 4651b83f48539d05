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
                  "Of each write, in their order: the entry's new version, 0 for a deletion",
              examples = "[43, 0]")
          List<Long> versions,
      @Schema(
              description = "Of each increment, the number that it has made; null for other writes",
              examples = "[null, null]")
          List<Double> sums) {}

  /** The body's schema, for the API reference. */
  @Schema(name = "TransactionRequest")
  record Request(
      @Schema(description = "What was read; version 0: there was no such entry") List<Read> reads,
      @Schema(description = "Ranges that were read") List<RangeRead> ranges,
      @Schema(description = "What to write, each key once") List<WriteRequest> writes) {}

  @Schema(name = "TransactionRead")
  record Read(
      @Schema(required = true, description = "1 to 512 bytes of UTF-8", examples = "account/a")
          String key,
      @Schema(
              required = true,
              description = "The one that was read; 0: there was no such entry",
              examples = "41")
          long version) {}

  @Schema(name = "TransactionRange")
  record RangeRead(
      @Schema(description = "Keys that begin with this", examples = "user/") String prefix,
      @Schema(description = "Not those before this key") String start,
      @Schema(description = "Only those after this key") String after,
      @Schema(description = "Not those after this key") String through,
      @Schema(
              description =
                  "SHA-256, in hexadecimal, of the versions of the range's entries in the order of"
                      + " their keys, each as decimal digits and a line feed")
          String tag,
      @Schema(description = "How many entries the range has; instead of the tag, or with it")
          Long count) {}

  @Schema(name = "TransactionWrite")
  record WriteRequest(
      @Schema(
              required = true,
              description =
                  "1 to 512 bytes of UTF-8; beside it comes one of value, delete and increment",
              examples = "account/a")
          String key,
      @Schema(
              ref = "JsonText",
              description = "Any JSON value, stored under the key with its exact text")
          JsonText value,
      @Schema(description = "With a value: seconds after which it is gone") Double ttl,
      @Schema(description = "true: removed, if it is there") Boolean delete,
      @Schema(description = "Added to the number that is there, or to 0") Double increment) {}

  @POST
  @Takes(BodySize.STORE_OPERATION)
  @Operation(
      operationId = "applyTransaction",
      summary = "Apply a transaction",
      description =
          "All writes or none: only when nothing of what was read has changed. Transactions and single"
              + " operations are serializable.")
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
      @Parameter(description = "Makes the request safe to repeat for 24 hours")
          @HeaderParam("Idempotency-Key")
          String idempotencyKey,
      byte[] bytes) {
    IdempotencyKey.check(idempotencyKey);
    Body body = Body.parse(bytes);
    Transaction transaction = TransactionBody.OF_CLIENT.read(body);
    body.check();
    Access.Receipt receipt =
        idempotencyKey == null
            ? null
            : new Access.Receipt(id, idempotencyKey, 1, Text.sha256(bytes));
    return transactions.run(Access.ofClient(id, receipt), transaction);
  }
}

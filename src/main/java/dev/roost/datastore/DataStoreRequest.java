package dev.roost.datastore;

import dev.roost.api.Body;
import dev.roost.api.Problem;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The fields of a DataStore that a client can set. */
@Schema(name = "DataStoreRequest")
record DataStoreRequest(
    @Schema(
            description =
                "A unique name, 1 to 100 characters. If it is left out, Roost generates one",
            examples = "greeter")
        String name) {
  /**
   * @throws Problem malformed_json, validation_failed
   */
  static DataStoreRequest of(byte[] utf8) {
    Body body = Body.parse(utf8);
    String name = body.string("name").orElse(null);
    body.check();
    return new DataStoreRequest(name);
  }
}

package dev.roost.overview;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A setting as it is on this replica.
 *
 * @param environment the variable that sets it; null: none can, since the rest of its name is free
 * @param value null: it has none
 * @param defaultValue null: there is none
 * @param set whether somebody has set it
 */
@Schema(name = "Setting")
record Setting(
    @Schema(examples = "roost.port") String name,
    @Schema(nullable = true, examples = "ROOST_PORT") String environment,
    @Schema(
            nullable = true,
            description = "As text. Of a password that is set, only \"(set)\"",
            examples = "8090")
        String value,
    @JsonProperty("default") @Schema(name = "default", nullable = true, examples = "8080")
        String defaultValue,
    @Schema(examples = "The TCP port to listen on.") String description,
    boolean set) {}

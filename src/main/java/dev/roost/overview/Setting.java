package dev.roost.overview;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A setting of this replica.
 *
 * @param environment the variable that sets it; null: none, since part of its name is variable
 * @param value null: none
 * @param defaultValue null: none
 * @param set whether the value was set explicitly
 */
@Schema(name = "Setting")
record Setting(
    @Schema(
            description = "With .* at its end: all settings whose names begin so",
            examples = "roost.port")
        String name,
    @Schema(
            nullable = true,
            description =
                "The environment variable that sets it; null: none can, since the rest of its name is free",
            examples = "ROOST_PORT")
        String environment,
    @Schema(
            nullable = true,
            description =
                "As text, as it is on this replica; null: it has none. Of a password that is set, only \"(set)\"",
            examples = "8090")
        String value,
    @JsonProperty("default")
        @Schema(
            name = "default",
            nullable = true,
            description = "As text; null: there is none",
            examples = "8080")
        String defaultValue,
    @Schema(description = "What it is for, as Markdown", examples = "The TCP port to listen on.")
        String description,
    @Schema(description = "Whether somebody has set it; false: the default holds") boolean set) {}

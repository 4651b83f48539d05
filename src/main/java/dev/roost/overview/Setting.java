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
            description =
                "The name. A name that ends with .* stands for all settings with this prefix",
            examples = "roost.port")
        String name,
    @Schema(
            nullable = true,
            description =
                "The environment variable of the setting; null if the setting's name has a variable part",
            examples = "ROOST_PORT")
        String environment,
    @Schema(
            nullable = true,
            description =
                "The value on this replica, as text; null if there is none; \"(set)\" for a password",
            examples = "8090")
        String value,
    @JsonProperty("default")
        @Schema(
            name = "default",
            nullable = true,
            description = "The default, as text; null if there is none",
            examples = "8080")
        String defaultValue,
    @Schema(description = "The description, as Markdown", examples = "The TCP port to listen on.")
        String description,
    @Schema(description = "Whether the setting is set; false if the default applies")
        boolean set) {}

package dev.roost.builds;

import dev.roost.runtime.Requirements;
import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Converter;

/** Stores requirements as their text. */
@Converter
public class RequirementsColumn implements AttributeConverter<Requirements, String> {
  @Override
  public String convertToDatabaseColumn(Requirements requirements) {
    return requirements == null ? null : requirements.text();
  }

  @Override
  public Requirements convertToEntityAttribute(String text) {
    return text == null ? null : Requirements.of(text);
  }
}

package dev.roost.file;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** The states of a file. */
public enum FileState implements Code {
  /** Parts of it are missing. */
  UPLOADING,
  STORED,
  /** Its parts are being deleted. */
  REMOVED;

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }
}

package dev.roost.search;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;

/** What is searched. */
public enum Kind implements Code {
  LOGS(0),
  ERRORS(-1),
  PAYLOADS(-2),
  RESULTS(-3);

  /** In {@code search_chunk.firsts}; lines of logs have their own numbers there. */
  final int place;

  Kind(int place) {
    this.place = place;
  }

  @Override
  @JsonValue
  public String code() {
    return Code.of(this);
  }

  /** The term of every chunk with such a part. No word contains its first character. */
  String term() {
    return "@k:" + code();
  }

  static Kind at(int place) {
    return switch (place) {
      case -1 -> ERRORS;
      case -2 -> PAYLOADS;
      case -3 -> RESULTS;
      default -> LOGS;
    };
  }
}

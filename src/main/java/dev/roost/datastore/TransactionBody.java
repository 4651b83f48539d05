package dev.roost.datastore;

import dev.roost.api.Body;
import dev.roost.api.JsonText;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Parses transactions. Clients send values as JSON; executors send them as text, which stays
 * unchanged.
 */
enum TransactionBody {
  OF_CLIENT {
    @Override
    Optional<JsonText> json(Body body, String name) {
      return body.json(name);
    }
  },
  OF_EXECUTOR {
    @Override
    Optional<JsonText> json(Body body, String name) {
      return text(body, name);
    }
  };

  /** A number of RFC 8259, as a pattern for PostgreSQL and for Java. */
  static final String NUMBER = "^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?$";

  private static final Pattern NUMBER_PATTERN = Pattern.compile(NUMBER);

  private static final Pattern TAG = Pattern.compile("[0-9a-fA-F]{64}");

  abstract Optional<JsonText> json(Body body, String name);

  /** Reads a transaction, and adds errors to the body, which the caller checks. */
  Transaction read(Body body) {
    return new Transaction(
        body.objects("reads", TransactionBody::oneRead).orElse(List.of()),
        body.objects("ranges", TransactionBody::range).orElse(List.of()),
        body.objects("writes", this::write).orElse(List.of()));
  }

  private static Transaction.Read oneRead(Body body) {
    return new Transaction.Read(key(body), version(body));
  }

  private static long version(Body body) {
    body.require("version");
    return body.wholeNumber("version").orElse(0L);
  }

  private static Transaction.RangeRead range(Body body) {
    Range range = Range.of(body);
    String tag = body.isNull("tag") ? null : body.string("tag").orElse(null);
    Long count = body.isNull("count") ? null : body.wholeNumber("count").orElse(null);
    if (tag == null && count == null) {
      body.reject("tag", "required", "A range requires tag or count.");
    } else if (tag != null && !TAG.matcher(tag).matches()) {
      body.reject("tag", "wrong_type", "tag must be a SHA-256 in hexadecimal.");
    }
    return new Transaction.RangeRead(range, tag, count);
  }

  private Write write(Body body) {
    String key = key(body);
    Optional<JsonText> value = json(body, "value");
    Optional<JsonText> increment = json(body, "increment");
    boolean delete = body.bool("delete").orElse(false);
    Double ttl = ttl(body);
    int kinds = (value.isPresent() ? 1 : 0) + (increment.isPresent() ? 1 : 0) + (delete ? 1 : 0);
    if (kinds != 1) {
      body.reject(
          "value",
          "contradictory",
          "A write must have exactly one of value, \"delete\": true and increment.");
      return new Write.Delete(key);
    }
    if (ttl != null && value.isEmpty()) {
      body.reject("ttl", "contradictory", "ttl is only allowed with value.");
    }
    if (increment.isPresent()) {
      requireNumber(body, "increment", increment.get());
      return new Write.Increment(key, increment.get());
    }
    return delete ? new Write.Delete(key) : new Write.Set(key, value.get(), ttl, null);
  }

  static void requireNumber(Body body, String name, JsonText text) {
    if (!NUMBER_PATTERN.matcher(text.text()).matches()) {
      body.reject(name, "wrong_type", name + " must be a number.");
    }
  }

  /** A value that was sent as a string of JSON text. */
  static Optional<JsonText> text(Body body, String name) {
    Optional<String> text = body.string(name);
    if (text.isPresent() && !JsonText.isValid(text.get())) {
      body.reject(name, "malformed_json", "The value is not valid JSON.");
    }
    return text.map(JsonText::new);
  }

  static Double ttl(Body body) {
    if (body.isNull("ttl")) {
      return null;
    }
    Double ttl = body.number("ttl", 0, Entries.MAX_TTL_SECONDS).orElse(null);
    if (ttl != null && ttl == 0) {
      body.reject("ttl", "out_of_range", "ttl must be a positive number of seconds.");
    }
    return ttl;
  }

  static String key(Body body) {
    body.require("key");
    return body.anyString("key").orElse("");
  }
}

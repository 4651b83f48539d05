package dev.roost.db;

import jakarta.persistence.EntityManager;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hibernate.Session;

/**
 * A statement with named parameters that is sent to the database unchanged, in the transaction and
 * on the connection of the entity manager. For the few statements that every execution runs:
 * Hibernate's native queries and bulk updates cost several times the cost of the statement.
 *
 * <p>Hibernate doesn't know the changes: flush before the statement, and don't use previously
 * loaded entities afterwards.
 */
public final class Sql {
  private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z][a-zA-Z]*)");

  private final String text;
  private final List<String> names = new ArrayList<>();

  private Sql(String named) {
    Matcher matcher = PARAMETER.matcher(named);
    text =
        matcher.replaceAll(
            match -> {
              names.add(match.group(1));
              return "?";
            });
  }

  /**
   * @param named SQL with {@code :name} for each parameter, which may be repeated
   */
  public static Sql of(String named) {
    return new Sql(named);
  }

  /** The statement for the database, with a question mark for each parameter. */
  public String text() {
    return text;
  }

  public Bound with(String name, Object value) {
    return new Bound().with(name, value);
  }

  /** For a statement without parameters. */
  public Bound with() {
    return new Bound();
  }

  /** Reads one row. */
  @FunctionalInterface
  public interface Row<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** Uses one row. */
  @FunctionalInterface
  public interface Visitor {
    void visit(ResultSet row) throws SQLException;
  }

  /**
   * The statement with values: strings, codes, numbers, booleans, instants, bytes or null, and
   * arrays of strings, numbers, booleans, instants and bytes.
   */
  public final class Bound {
    private final Map<String, Object> values = new HashMap<>();

    public Bound with(String name, Object value) {
      if (!names.contains(name)) {
        throw new IllegalArgumentException("the statement has no parameter " + name);
      }
      values.put(name, stored(value));
      return this;
    }

    /** The rows of a query, or of a change with {@code returning}. */
    public <T> List<T> list(EntityManager entities, Row<T> reader) {
      return entities.unwrap(Session.class).doReturningWork(connection -> list(connection, reader));
    }

    /** The first column of all rows. */
    public List<String> strings(Connection connection) throws SQLException {
      return list(connection, row -> row.getString(1));
    }

    /** The first column of all rows. */
    public List<String> strings(EntityManager entities) {
      return list(entities, row -> row.getString(1));
    }

    /** The rows, on that connection and in its transaction. */
    public <T> List<T> list(Connection connection, Row<T> reader) throws SQLException {
      try (PreparedStatement statement = connection.prepareStatement(text)) {
        bind(connection, statement);
        try (ResultSet rows = statement.executeQuery()) {
          List<T> result = new ArrayList<>();
          while (rows.next()) {
            result.add(reader.read(rows));
          }
          return result;
        }
      }
    }

    /**
     * Visits the rows one by one and keeps none, on that connection and in its transaction.
     *
     * @param fetchSize how many rows are in memory at a time
     */
    public void each(Connection connection, int fetchSize, Visitor visitor) throws SQLException {
      try (PreparedStatement statement = connection.prepareStatement(text)) {
        bind(connection, statement);
        statement.setFetchSize(fetchSize);
        try (ResultSet rows = statement.executeQuery()) {
          while (rows.next()) {
            visitor.visit(rows);
          }
        }
      }
    }

    /** The first row on that connection, in its transaction. */
    public <T> Optional<T> first(Connection connection, Row<T> reader) throws SQLException {
      return list(connection, reader).stream().findFirst();
    }

    /** The number of changed rows, on that connection and in its transaction. */
    public int update(Connection connection) throws SQLException {
      try (PreparedStatement statement = connection.prepareStatement(text)) {
        bind(connection, statement);
        return statement.executeUpdate();
      }
    }

    public <T> Optional<T> first(EntityManager entities, Row<T> reader) {
      return list(entities, reader).stream().findFirst();
    }

    /** The number of changed rows. */
    public int update(EntityManager entities) {
      return entities.unwrap(Session.class).doReturningWork(this::update);
    }

    private void bind(Connection connection, PreparedStatement statement) throws SQLException {
      for (int i = 0; i < names.size(); i++) {
        String name = names.get(i);
        if (!values.containsKey(name)) {
          throw new IllegalStateException("the parameter " + name + " has no value");
        }
        Object value = values.get(name);
        if (value instanceof Object[] array) {
          statement.setArray(i + 1, connection.createArrayOf(typeOf(array), array));
        } else {
          statement.setObject(i + 1, value);
        }
      }
    }
  }

  private static Object stored(Object value) {
    if (value instanceof Code code) {
      return code.code();
    }
    if (value instanceof Instant time) {
      return time.atOffset(ZoneOffset.UTC);
    }
    if (value instanceof Instant[] times) {
      return Arrays.stream(times)
          .map(time -> time == null ? null : time.atOffset(ZoneOffset.UTC))
          .toArray(OffsetDateTime[]::new);
    }
    return value;
  }

  private static String typeOf(Object[] array) {
    if (array instanceof byte[][]) {
      return "bytea";
    }
    if (array instanceof Long[]) {
      return "int8";
    }
    if (array instanceof Integer[]) {
      return "int4";
    }
    if (array instanceof OffsetDateTime[]) {
      return "timestamptz";
    }
    if (array instanceof Double[]) {
      return "float8";
    }
    return array instanceof Boolean[] ? "bool" : "text";
  }

  /** A nullable time of a row. */
  public static Instant instant(ResultSet row, String column) throws SQLException {
    OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }
}

package dev.roost.builds;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.JsonText;
import dev.roost.db.Sql;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jboss.logging.Logger;

/**
 * The index of a Build's packages, which the builder reads from their sources ({@code
 * roost_builder/symbols.py}). Packages can run code while they are built, so the index is
 * untrusted: it is limited here, and dashboards show it as text.
 *
 * @param symbols JSON by the module's name; null: only the name is known
 */
record BuildModules(Map<String, String> symbols) {
  private static final Logger LOG = Logger.getLogger(BuildModules.class);
  private static final Pattern NAME = Pattern.compile("[A-Za-z_]\\w*(?:\\.\\w+)*");
  private static final int LONGEST_NAME = 200;
  private static final int MOST_MODULES = 20_000;

  /** Of JSON, once it is decompressed; the builder writes up to 12 MiB. */
  private static final int MOST_BYTES = 16 << 20;

  private static final Sql DELETE = Sql.of("delete from build_module where build_id = :build");
  private static final Sql INSERT =
      Sql.of(
          """
          insert into build_module (build_id, name, symbols)
          select :build, m.name, m.symbols from unnest(:names, :symbols) as m(name, symbols)""");
  private static final Sql NAMES =
      Sql.of(
          """
          select name from build_module
          where build_id = :build and position('.' in name) = 0 order by name""");
  private static final Sql SYMBOLS =
      Sql.of("select symbols from build_module where build_id = :build and name = :name");

  /** The top-level modules in API responses. */
  @Schema(name = "BuildModules")
  public record Names(
      @Schema(
              nullable = true,
              description =
                  "Sorted by name; null if the Build has no index: it installed nothing, or an earlier "
                      + "version of Roost created it")
          List<String> modules) {}

  /** A module in API responses. */
  @Schema(name = "BuildModule")
  public record View(
      @Schema(examples = "bs4.element", description = "The whole name") String name,
      @Schema(
              type = SchemaType.ARRAY,
              implementation = Symbol.class,
              nullable = true,
              description = "Sorted by name; null if they are not known")
          JsonText symbols) {}

  /** The schema of an element of {@link View#symbols}. */
  @Schema(name = "Symbol")
  record Symbol(
      @Schema(examples = "read_csv", description = "The name within its module or class")
          String name,
      @Schema(
              enumeration = {"class", "function", "method", "module", "property", "variable"},
              description = "What it is")
          String kind,
      @Schema(
              examples = "(path: str) -> DataFrame",
              description =
                  "Only if known, of functions, methods and classes: the parameters and the result")
          String signature,
      @Schema(description = "Only if there is documentation: its first sentence") String doc,
      @Schema(
              examples = "pandas.core.frame.DataFrame",
              description = "Only if known: the class that it returns, or that it is an object of")
          String type,
      @Schema(
              examples = "pandas.core.frame.DataFrame",
              description =
                  "Only of modules, and of classes of another module: where its names are described")
          String from,
      @Schema(description = "Only of classes, if known: the base classes") List<String> bases,
      @Schema(description = "Only of classes: the public members, without inherited ones")
          List<Symbol> members) {}

  /** The index in a builder's result; empty when there is none, or when it is not valid. */
  static BuildModules of(JsonNode result, ObjectMapper mapper) {
    Map<String, String> modules = new LinkedHashMap<>();
    String packed = result.path("symbols").textValue();
    if (packed != null) {
      try {
        read(unpacked(packed), mapper, modules);
      } catch (IOException | IllegalArgumentException e) {
        LOG.warnf("a Build's index of modules is not valid: %s", e.getMessage());
        return new BuildModules(Map.of());
      }
    }
    return new BuildModules(modules);
  }

  /** Without a tree: one of so many bytes can take all of the heap. */
  private static void read(byte[] index, ObjectMapper mapper, Map<String, String> modules)
      throws IOException {
    try (JsonParser json = mapper.createParser(index)) {
      json.nextToken();
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String field = json.currentName();
        JsonToken value = json.nextToken();
        if (field.equals("names") && value == JsonToken.START_ARRAY) {
          while (json.nextToken() != JsonToken.END_ARRAY) {
            put(modules, json.getValueAsString(""), null);
            json.skipChildren();
          }
        } else if (field.equals("modules") && value == JsonToken.START_OBJECT) {
          while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = json.currentName();
            boolean list = json.nextToken() == JsonToken.START_ARRAY;
            int start = (int) json.currentTokenLocation().getByteOffset();
            json.skipChildren();
            int end = (int) json.currentLocation().getByteOffset();
            if (list) {
              put(modules, name, new String(index, start, end - start, StandardCharsets.UTF_8));
            }
          }
        } else {
          json.skipChildren();
        }
      }
    }
  }

  private static byte[] unpacked(String packed) throws IOException {
    byte[] compressed = Base64.getDecoder().decode(packed);
    try (GZIPInputStream content = new GZIPInputStream(new ByteArrayInputStream(compressed))) {
      byte[] read = content.readNBytes(MOST_BYTES + 1);
      if (read.length > MOST_BYTES) {
        throw new IOException("it has more than " + MOST_BYTES + " bytes");
      }
      return read;
    }
  }

  private static void put(Map<String, String> modules, String name, String symbols) {
    if (name.length() <= LONGEST_NAME
        && NAME.matcher(name).matches()
        && (modules.size() < MOST_MODULES || modules.containsKey(name))) {
      modules.put(name, symbols);
    }
  }

  /** Replaces the index of a Build. */
  static void store(String buildId, BuildModules modules) {
    DELETE.with("build", buildId).update(Build.getEntityManager());
    if (!modules.symbols.isEmpty()) {
      INSERT
          .with("build", buildId)
          .with("names", modules.symbols.keySet().toArray(String[]::new))
          .with("symbols", modules.symbols.values().toArray(String[]::new))
          .update(Build.getEntityManager());
    }
  }

  /** The top-level modules; empty when the Build has no index. */
  static Optional<List<String>> names(String buildId) {
    List<String> names = NAMES.with("build", buildId).strings(Build.getEntityManager());
    return names.isEmpty() ? Optional.empty() : Optional.of(names);
  }

  /** The names of a module as a JSON list; empty when they are not known. */
  static Optional<JsonText> symbols(String buildId, String module) {
    return SYMBOLS
        .with("build", buildId)
        .with("name", module)
        .strings(Build.getEntityManager())
        .stream()
        .filter(symbols -> symbols != null)
        .findFirst()
        .map(JsonText::new);
  }
}

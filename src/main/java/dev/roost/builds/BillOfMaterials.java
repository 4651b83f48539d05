package dev.roost.builds;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The software bill of materials of a Build, in <a
 * href="https://cyclonedx.org/docs/1.6/json/">CycloneDX 1.6</a>. Equal Builds give equal text.
 */
final class BillOfMaterials {
  static final String MEDIA_TYPE = "application/vnd.cyclonedx+json;version=1.6";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern SEPARATORS = Pattern.compile("[-_.]+");
  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

  private BillOfMaterials() {}

  /** The document as JSON text, with one component for each installed distribution. */
  static String of(Build build) {
    ObjectNode document = JsonNodeFactory.instance.objectNode();
    document.put("bomFormat", "CycloneDX").put("specVersion", "1.6");
    document.put("serialNumber", "urn:uuid:" + serialNumber(build.id)).put("version", 1);
    document
        .putObject("metadata")
        .put("timestamp", build.createdAt.truncatedTo(ChronoUnit.SECONDS).toString())
        .set("component", environment(build));
    ArrayNode components = document.putArray("components");
    distributions(build).values().forEach(components::add);
    return document.toString();
  }

  private static UUID serialNumber(String buildId) {
    return UUID.nameUUIDFromBytes(buildId.getBytes(StandardCharsets.UTF_8));
  }

  private static ObjectNode environment(Build build) {
    ObjectNode component = JsonNodeFactory.instance.objectNode();
    component.put("type", build.image == null ? "application" : "container");
    component.put("bom-ref", build.id).put("name", build.id).put("version", build.imageKey);
    ArrayNode properties = component.putArray("properties");
    property(properties, "roost:python_version", build.pythonVersion);
    property(properties, "roost:image", build.image);
    property(properties, "roost:base", build.base);
    return component;
  }

  private static void property(ArrayNode properties, String name, String value) {
    if (value != null) {
      properties.addObject().put("name", name).put("value", value);
    }
  }

  /** By package URL: a "bom-ref" must be unique, and the order must not depend on the builder. */
  private static Map<String, ObjectNode> distributions(Build build) {
    Map<String, ObjectNode> components = new TreeMap<>();
    for (JsonNode installed : packages(build)) {
      ObjectNode component = distribution(installed);
      components.putIfAbsent(component.get("purl").textValue(), component);
    }
    return components;
  }

  private static JsonNode packages(Build build) {
    try {
      return JSON.readTree(build.packages);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the packages of " + build.id + " are not JSON", e);
    }
  }

  private static ObjectNode distribution(JsonNode installed) {
    String name = installed.path("name").asText();
    String version = installed.path("version").asText();
    String packageUrl = packageUrl(name, version);
    ObjectNode component = JsonNodeFactory.instance.objectNode();
    component.put("type", "library").put("bom-ref", packageUrl);
    component.put("name", name).put("version", version).put("purl", packageUrl);
    String sha256 = installed.path("sha256").asText();
    if (SHA256.matcher(sha256).matches()) {
      component.putArray("hashes").addObject().put("alg", "SHA-256").put("content", sha256);
    }
    return component;
  }

  /**
   * The <a href="https://github.com/package-url/purl-spec">package URL</a>, with the name as PEP
   * 503 normalises it and the version percent-encoded.
   */
  static String packageUrl(String name, String version) {
    String normalised = SEPARATORS.matcher(name).replaceAll("-").toLowerCase(Locale.ROOT);
    return "pkg:pypi/%s@%s".formatted(encoded(normalised), encoded(version));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}

package dev.roost.builds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class BillOfMaterialsTest {
  private static final String HASH = "ab".repeat(32);
  private static final String JINJA =
      "{\"name\": \"Jinja2\", \"version\": \"3.1.4\", \"sha256\": \"" + HASH + "\"}";
  private static final String TORCH =
      "{\"name\": \"Big_.Torch\", \"version\": \"1!2.0+cpu\", \"sha256\": \"" + HASH + "\"}";

  @Test
  void everyInstalledDistributionIsALibraryWithItsHash() throws Exception {
    JsonNode document = document(build("[" + JINJA + "]"));

    assertEquals("CycloneDX", document.get("bomFormat").textValue());
    assertEquals("1.6", document.get("specVersion").textValue());
    assertEquals(1, document.get("version").intValue());
    String serialNumber = document.get("serialNumber").textValue();
    assertTrue(
        serialNumber.matches("urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), serialNumber);
    assertEquals(
        new ObjectMapper()
            .readTree(
                """
                    [{"type": "library", "bom-ref": "pkg:pypi/jinja2@3.1.4", "name": "Jinja2",
                      "version": "3.1.4", "purl": "pkg:pypi/jinja2@3.1.4",
                      "hashes": [{"alg": "SHA-256", "content": "%s"}]}]"""
                    .formatted(HASH)),
        document.get("components"));
  }

  @Test
  void theEnvironmentIsTheComponentThatTheDocumentDescribes() throws Exception {
    Build build = build("[]");
    build.image = "registry/agents@sha256:" + HASH;

    JsonNode metadata = document(build).get("metadata");

    assertEquals("2026-01-02T03:04:05Z", metadata.get("timestamp").textValue());
    assertEquals("container", metadata.at("/component/type").textValue());
    assertEquals(
        List.of("3.13", build.image, "cpython"),
        metadata.at("/component/properties").findValuesAsText("value"));
  }

  @Test
  void theOrderOfThePackagesDoesNotMatterAndReferencesAreUnique() {
    String document = BillOfMaterials.of(build("[" + JINJA + "," + TORCH + "]"));

    assertEquals(
        document, BillOfMaterials.of(build("[" + TORCH + "," + JINJA + "," + JINJA + "]")));
  }

  @Test
  void namesAreNormalisedAndVersionsEncoded() {
    assertEquals(
        "pkg:pypi/big-torch@1%212.0%2Bcpu", BillOfMaterials.packageUrl("Big_.Torch", "1!2.0+cpu"));
  }

  @Test
  void aHashThatIsNotSha256IsOmitted() throws Exception {
    JsonNode document = document(build("[" + JINJA.replace(HASH, "") + "]"));

    assertEquals("Jinja2", document.at("/components/0/name").textValue());
    assertTrue(document.at("/components/0/hashes").isMissingNode());
  }

  private static JsonNode document(Build build) throws Exception {
    return new ObjectMapper().readTree(BillOfMaterials.of(build));
  }

  private static Build build(String packages) {
    Build build = new Build();
    build.id = "build_1";
    build.imageKey = "key";
    build.pythonVersion = "3.13";
    build.base = "cpython";
    build.packages = packages;
    build.createdAt = Instant.parse("2026-01-02T03:04:05.678Z");
    return build;
  }
}

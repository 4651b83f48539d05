package dev.roost.builds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

class BuildModulesTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private static Map<String, String> read(byte[] index) throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream content = new GZIPOutputStream(packed)) {
      content.write(index);
    }
    return of(Base64.getEncoder().encodeToString(packed.toByteArray()));
  }

  private static Map<String, String> of(String symbols) {
    return BuildModules.of(MAPPER.createObjectNode().put("symbols", symbols), MAPPER).symbols();
  }

  @Test
  void modulesHaveTheirSymbolsAndOthersOnlyTheirName() throws IOException {
    String index =
        """
        {"names": ["bs4", "lxml"], "modules": {"bs4": [{"name": "Tag"}], "bs4.element": []}}""";
    Map<String, String> modules = read(index.getBytes(StandardCharsets.UTF_8));
    assertEquals(Set.of("bs4", "lxml", "bs4.element"), modules.keySet());
    assertEquals("[{\"name\": \"Tag\"}]", modules.get("bs4"));
    assertNull(modules.get("lxml"));
  }

  @Test
  void whatPackagesHaveForgedIsLeftOut() throws IOException {
    String index =
        """
        {"names": ["../x", "", 7, "%s"], "modules": {"a b": [], "ok": {}, "fine": [1]}}"""
            .formatted("x".repeat(201));
    assertEquals(Map.of("fine", "[1]"), read(index.getBytes(StandardCharsets.UTF_8)));
    byte[] bomb = new byte[(16 << 20) + 1];
    Arrays.fill(bomb, (byte) ' ');
    assertEquals(Map.of(), read(bomb));
    assertEquals(Map.of(), of("not base64"));
    assertEquals(Map.of(), of("AAAA"));
  }

  @Test
  void anIndexTakesFewTimesItsSizeOfMemory() throws IOException {
    byte[] wide = ("{\"modules\": {\"a\": [" + "[],".repeat(5 << 20) + "[]]}}").getBytes();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    assertEquals(wide.length - 20, read(wide).get("a").length());
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertTrue(allocated < 6L * wide.length, allocated + " bytes for " + wide.length);
  }

  @Test
  void valuesOfOtherKindsAreSkipped() throws IOException {
    String index =
        """
        {"version": {"names": ["no"]}, "names": [["no"], {"a": "no"}, null, "yes"],
         "modules": {"no": {"a": ["b"]}, "neither": 7, "Größe": ["\\u0000 ü"]}, "more": [[]]}""";
    Map<String, String> modules = read(index.getBytes(StandardCharsets.UTF_8));
    assertEquals(Set.of("yes"), modules.keySet());
    for (String other : List.of("", "[]", "7", "{", "{\"modules\": {\"a\": [", "{\"names\": [")) {
      assertEquals(Map.of(), read(other.getBytes(StandardCharsets.UTF_8)), other);
    }
  }

  @Test
  void aResultWithoutAnIndexHasNone() {
    assertEquals(Map.of(), BuildModules.of(MAPPER.missingNode(), MAPPER).symbols());
  }
}

package dev.roost.e2e;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/** A Python distribution of version 1.0, made here: nothing depends on what the world publishes. */
record TestPackage(String name, String file, byte[] content) {
  /** Builds its package itself, with nothing from elsewhere; WORK says what else it does. */
  private static final String BACKEND =
      """
      import base64, os, sys, zipfile

      def work():
          known = None
      WORK
          return known

      def build_wheel(directory, settings=None, metadata=None):
          known = work()
          file = "NAME-1.0-py3-none-any.whl"
          with zipfile.ZipFile(os.path.join(directory, file), "w") as wheel:
              for path, text in {
                  "NAME.py": "KNOWN = " + repr(known) + chr(10),
                  "NAME-1.0.dist-info/METADATA": "Metadata-Version: 2.2\\nName: NAME\\nVersion: 1.0\\n",
                  "NAME-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
                  "NAME-1.0.dist-info/RECORD": "NAME.py,,\\nNAME-1.0.dist-info/METADATA,,\\n",
              }.items():
                  wheel.writestr(path, text)
          return file
      """;

  /** A wheel with one module, which requires others. */
  static TestPackage wheel(String name, List<String> requires) {
    StringBuilder metadata =
        new StringBuilder("Metadata-Version: 2.1\nName: %s\nVersion: 1.0\n".formatted(name));
    requires.forEach(one -> metadata.append("Requires-Dist: ").append(one).append("==1.0\n"));
    String information = name + "-1.0.dist-info/";
    Map<String, String> files = new LinkedHashMap<>();
    files.put(name + ".py", "KNOWN = \"wheel\"\n");
    files.put(information + "METADATA", metadata.toString());
    files.put(
        information + "WHEEL",
        "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
    files.put(information + "RECORD", name + ".py,,\n");
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(content)) {
      for (Map.Entry<String, String> file : files.entrySet()) {
        zip.putNextEntry(new ZipEntry(file.getKey()));
        zip.write(file.getValue().getBytes(StandardCharsets.UTF_8));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new TestPackage(name, name + "-1.0-py3-none-any.whl", content.toByteArray());
  }

  /**
   * A source package.
   *
   * @param work what it does while it is built; it may set {@code known}, which becomes {@code
   *     KNOWN} of its module
   * @param more further modules of its build: name and text
   */
  static TestPackage source(String name, String work, Map<String, String> more) {
    String backend = BACKEND.replace("WORK\n", work.strip().indent(4)).replace("NAME", name);
    Map<String, String> files = new LinkedHashMap<>(more);
    files.put(
        "pyproject.toml",
        """
        [build-system]
        requires = []
        build-backend = "backend"
        backend-path = ["."]

        [project]
        name = "%s"
        version = "1.0"
        dependencies = []
        """
            .formatted(name));
    files.put("backend.py", backend);
    files.put("PKG-INFO", "Metadata-Version: 2.2\nName: %s\nVersion: 1.0\n".formatted(name));
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    try (TarArchiveOutputStream tar = new TarArchiveOutputStream(new GZIPOutputStream(content))) {
      for (Map.Entry<String, String> file : files.entrySet()) {
        byte[] text = file.getValue().getBytes(StandardCharsets.UTF_8);
        TarArchiveEntry entry = new TarArchiveEntry(name + "-1.0/" + file.getKey());
        entry.setSize(text.length);
        tar.putArchiveEntry(entry);
        tar.write(text);
        tar.closeArchiveEntry();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new TestPackage(name, name + "-1.0.tar.gz", content.toByteArray());
  }

  String sha256() {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}

package dev.roost.e2e;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Arrays;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A certificate authority that nobody knows, and a server's certificate that it has signed. */
public final class TestCertificates {
  private static final char[] PASSWORD = "changeit".toCharArray();

  private final KeyStore store;

  /**
   * @param host an address, not a name
   */
  public TestCertificates(String host) {
    this("ip", host);
  }

  private TestCertificates(String kind, String host) {
    try {
      Path directory = Files.createTempDirectory("roost-e2e-certificates-");
      Path file = directory.resolve("keys.p12");
      try {
        make(file, "authority", "-dname", "CN=Test authority", "-ext", "bc:critical=ca:true");
        make(
            file,
            "server",
            "-dname",
            "CN=Test index",
            "-signer",
            "authority",
            "-ext",
            "san=" + kind + ":" + host,
            "-ext",
            "eku=serverAuth");
        try (InputStream stream = Files.newInputStream(file)) {
          store = KeyStore.getInstance("PKCS12");
          store.load(stream, PASSWORD);
        }
      } finally {
        Files.deleteIfExists(file);
        Files.delete(directory);
      }
    } catch (IOException | GeneralSecurityException e) {
      throw new AssertionError("no certificates", e);
    }
  }

  /**
   * @param host a name, not an address
   */
  public static TestCertificates ofName(String host) {
    return new TestCertificates("dns", host);
  }

  private static void make(Path file, String alias, String... options) {
    String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    String[] common = {
      keytool,
      "-genkeypair",
      "-alias",
      alias,
      "-keyalg",
      "EC",
      "-groupname",
      "secp256r1",
      "-validity",
      "2",
      "-storetype",
      "PKCS12",
      "-keystore",
      file.toString(),
      "-storepass",
      new String(PASSWORD)
    };
    String[] command = Arrays.copyOf(common, common.length + options.length);
    System.arraycopy(options, 0, command, common.length, options.length);
    Command.run(command);
  }

  /** PEM. */
  public String authority() {
    try {
      byte[] certificate = store.getCertificate("authority").getEncoded();
      return "-----BEGIN CERTIFICATE-----\n"
          + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(certificate)
          + "\n-----END CERTIFICATE-----\n";
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Writes a PKCS #12 file with the server's certificate alone.
   *
   * @return the password
   */
  public String write(Path file) {
    try (OutputStream stream = Files.newOutputStream(file)) {
      serverOnly().store(stream, PASSWORD);
      return new String(PASSWORD);
    } catch (IOException | GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private KeyStore serverOnly() throws IOException, GeneralSecurityException {
    KeyStore own = KeyStore.getInstance("PKCS12");
    own.load(null, null);
    own.setKeyEntry(
        "server", store.getKey("server", PASSWORD), PASSWORD, store.getCertificateChain("server"));
    return own;
  }

  /** The server's side of TLS, with the server's certificate alone. */
  public SSLContext context() {
    try {
      KeyStore own = serverOnly();
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, PASSWORD);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), null, null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }
}

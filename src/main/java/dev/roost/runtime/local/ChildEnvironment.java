package dev.roost.runtime.local;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The environment of builds and executors: the variables that programs need on this machine,
 * without the control plane's own settings or secrets.
 */
final class ChildEnvironment {
  private static final String STANDARD_PATH = "/usr/local/bin:/usr/bin:/bin";

  private static final List<String> FOR_ALL =
      List.of(
          "HOME",
          "USER",
          "LOGNAME",
          "LANG",
          "LC_ALL",
          "TZ",
          "TMPDIR",
          "SSL_CERT_FILE",
          "SSL_CERT_DIR",
          "REQUESTS_CA_BUNDLE",
          "CURL_CA_BUNDLE",
          "HTTP_PROXY",
          "HTTPS_PROXY",
          "ALL_PROXY",
          "NO_PROXY",
          "http_proxy",
          "https_proxy",
          "all_proxy",
          "no_proxy");

  private static final List<String> FOR_BUILDS =
      List.of(
          "PIP_INDEX_URL",
          "PIP_EXTRA_INDEX_URL",
          "PIP_CONFIG_FILE",
          "PIP_CERT",
          "NETRC",
          "XDG_CONFIG_HOME",
          "CC",
          "CXX",
          "CFLAGS",
          "CXXFLAGS",
          "CPPFLAGS",
          "LDFLAGS",
          "PKG_CONFIG_PATH");

  private ChildEnvironment() {}

  /**
   * @param own this process's environment
   * @param build the virtual environment with the agent's packages
   */
  static Map<String, String> forExecutor(Map<String, String> own, Path build) {
    Map<String, String> environment = common(own);
    environment.merge(
        "PATH", build.resolve("bin").toString(), (path, programs) -> programs + ":" + path);
    return environment;
  }

  /** Includes uv's settings: the package index, and the proxy and certificates to reach it. */
  static Map<String, String> forBuild(
      Map<String, String> own, Path uvCache, Optional<String> indexUrl) {
    Map<String, String> environment = common(own);
    FOR_BUILDS.forEach(name -> copy(own, name, environment));
    own.keySet().stream()
        .filter(name -> name.startsWith("UV_"))
        .forEach(name -> copy(own, name, environment));
    environment.put("UV_CACHE_DIR", uvCache.toString());
    indexUrl.ifPresent(url -> environment.put("ROOST_BUILDS_INDEX_URL", url));
    return environment;
  }

  private static Map<String, String> common(Map<String, String> own) {
    Map<String, String> environment = new HashMap<>();
    environment.put("PATH", own.getOrDefault("PATH", STANDARD_PATH));
    environment.put("LANG", "C.UTF-8");
    FOR_ALL.forEach(name -> copy(own, name, environment));
    return environment;
  }

  private static void copy(Map<String, String> from, String name, Map<String, String> to) {
    String value = from.get(name);
    if (value != null) {
      to.put(name, value);
    }
  }
}

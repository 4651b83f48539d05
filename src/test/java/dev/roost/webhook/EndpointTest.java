package dev.roost.webhook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.HostileTexts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EndpointTest {
  @ParameterizedTest
  @CsvSource({
    "https://example.org, true, example.org, 443, /, example.org",
    "http://example.org, false, example.org, 80, /, example.org",
    "HTTPS://Example.ORG./a, true, example.org, 443, /a, example.org",
    "https://example.org:443/a?b=c%20d, true, example.org, 443, /a?b=c%20d, example.org",
    "http://example.org:443, false, example.org, 443, /, example.org:443",
    "https://my_service:8443//a, true, my_service, 8443, //a, my_service:8443",
    "https://example.org//, true, example.org, 443, //, example.org",
    "https://example.org/ä?ö, true, example.org, 443, /%C3%A4?%C3%B6, example.org",
    "https://xn--bcher-kva.example, true, xn--bcher-kva.example, 443, /, xn--bcher-kva.example",
    "https://0x.example.org, true, 0x.example.org, 443, /, 0x.example.org",
    "https://1.example.org, true, 1.example.org, 443, /, 1.example.org",
    "http://192.0.2.1:81/?, false, 192.0.2.1, 81, /?, 192.0.2.1:81",
    "http://[2001:db8::1]:81, false, 2001:db8:0:0:0:0:0:1, 81, /, [2001:db8:0:0:0:0:0:1]:81",
    "http://[::ffff:127.0.0.1], false, 127.0.0.1, 80, /, 127.0.0.1",
  })
  void aUrlIsReadAsReceiversReadIt(
      String url, boolean secure, String host, int port, String uri, String authority)
      throws Endpoint.Invalid {
    Endpoint target = Endpoint.parse(url);
    assertEquals(new Endpoint(secure, host, port, uri), target);
    assertEquals(authority, target.authority());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://0x7F.0.0.0x1/",
        "http://0177.0.0.1/",
        "http://017700000001/",
        "http://127.1/",
        "http://127.0.1/",
        "http://127.0.0.1./",
        "http://127.0.0.01/",
        "http://127.0.0.256/",
        "http://1.2.3.4.5/",
        "http://example.0x7f/",
        "http://example.1/",
        "http://0/",
        "http://0x/"
      })
  void otherFormsOfIpv4AreRefused(String url) {
    assertTrue(mistake(url).contains("four decimal numbers"), url);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://user@example.org/",
        "http://user:password@example.org/",
        "http://127.0.0.1@example.org/",
        "http://example.org@127.0.0.1/",
        "http://example.org:80@127.0.0.1/",
        "http://@example.org/"
      })
  void aUrlWithAUserIsRefused(String url) {
    assertTrue(mistake(url).contains("user name"), url);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "example.org",
        "//example.org/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http:example.org",
        "http:///path",
        "http://:80/",
        "https://",
        "http://example.org:0/",
        "http://example.org:65536/",
        "http://example.org:99999999999/",
        "http://example.org:/x:y@",
        "http://example.org/#part",
        "http://example.org\\@127.0.0.1/",
        "http://exa mple.org/",
        "http://example.org/\r\nHost: x",
        "http://exam%70le.org/",
        "http://127.0.0.1%2f@example.org/",
        "http://①②⑦.⓪.⓪.①/",
        "http://example。org/",
        "http://bücher.example/",
        "http://-example.org/",
        "http://example..org/",
        "http://.example.org/",
        "http://example.org../",
        "http://[::1/",
        "http://::1/",
        "http://[::1%25lo]/",
        "http://[fe80::1%eth0]/",
        "http://[127.0.0.1]/",
        "http://[example.org]/",
        "http://[::1]x/",
        "http://[v1.x]/"
      })
  void whatProgramsReadInDifferentWaysIsRefused(String url) {
    assertTrue(mistake(url).length() > 10, url);
  }

  @Test
  void aUrlHasALimit() throws Endpoint.Invalid {
    String most = "https://example.org/" + "a".repeat(Endpoint.MAX_CHARACTERS - 20);
    Endpoint.parse(most);
    assertTrue(mistake(most + "a").contains("2048"));
  }

  @ParameterizedTest
  @CsvSource({
    "http://localhost, true",
    "http://LOCALHOST./, true",
    "http://a.localhost, true",
    "http://localhost.example.org, false",
    "http://notlocalhost, false"
  })
  void thisMachineIsKnownByName(String url, boolean local) throws Endpoint.Invalid {
    assertEquals(local, Endpoint.parse(url).isLocalhost());
  }

  @Test
  void everyTextHasAnAnswerSoon() {
    HostileTexts.check(
        text -> {
          Endpoint target = Endpoint.parse(text);
          target.address();
          target.isLocalhost();
          target.authority();
        },
        Hooks.NEARLY_URLS);
    HostileTexts.check(Secret::mistake, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  }

  private static String mistake(String url) {
    return assertThrows(Endpoint.Invalid.class, () -> Endpoint.parse(url), url).getMessage();
  }
}

package dev.roost.datastore;

import dev.roost.HostileTexts;
import dev.roost.HostileTexts.Parser;
import dev.roost.api.Body;
import dev.roost.config.RoostConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What clients send to DataStores: nothing of it costs long, and nothing is a surprise. */
class StoreTextsTest {
  private static final RoostConfig.Limits LIMITS =
      new SmallRyeConfigBuilder()
          .addDiscoveredConverters()
          .withMapping(RoostConfig.class)
          .withDefaultValue("roost.data", "/nowhere")
          .build()
          .getConfigMapping(RoostConfig.class)
          .limits();

  static Stream<Arguments> parsers() {
    return Stream.of(
        of("a key", text -> EntryKey.bytes("/key", text, 512), "user/42", "a;b=c?d#e"),
        of("a version", text -> Precondition.of(text, null), "\"12\", W/\"34\"", "*"),
        of("no version", text -> Precondition.of(null, text), "\"12\"", "*"),
        of("known versions", text -> Precondition.isKnown(text, 12), "\"12\", \"34\"", "*"),
        of(
            "a line of an import",
            text -> PortableLine.parse(bytes(text), LIMITS),
            "{\"key\": \"a\", \"value\": [1.10], \"expires_at\": \"2026-11-21T18:12:41Z\"}",
            "{\"key\": \"a\", \"text\": \"{}\", \"ttl\": 1e3}"),
        of(
            "an expiry of an import",
            text ->
                PortableLine.parse(
                    bytes("{\"key\":\"a\",\"value\":1,\"expires_at\":\"" + text + "\"}"), LIMITS),
            "2026-11-21T18:12:41.123456Z",
            "+999999999-12-31T23:59:59-18:00"),
        of(
            "a transaction",
            text -> read(TransactionBody.OF_CLIENT, text),
            "{\"reads\": [{\"key\": \"a\", \"version\": 1}], \"writes\": [{\"key\": \"b\", \"value\": 2}]}"),
        of(
            "a script's transaction",
            text -> read(TransactionBody.OF_EXECUTOR, text),
            "{\"writes\": [{\"key\": \"b\", \"increment\": \"2\", \"ttl\": 5}], \"ranges\": [{\"prefix\": \"\"}]}"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("parsers")
  void everyTextHasAnAnswerSoon(String name, Parser parser, String[] valid) {
    HostileTexts.check(parser, valid);
  }

  private static void read(TransactionBody kind, String text) {
    Body body = Body.parse(bytes(text));
    kind.read(body);
    body.check();
  }

  private static Arguments of(String name, Parser parser, String... valid) {
    return Arguments.of(name, parser, valid);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}

package dev.roost;

import dev.roost.HostileTexts.Parser;
import dev.roost.agent.EnvVars;
import dev.roost.agent.RequirementsText;
import dev.roost.api.Body;
import dev.roost.api.Cursor;
import dev.roost.api.EntityTags;
import dev.roost.api.IdempotencyKey;
import dev.roost.api.JsonText;
import dev.roost.api.QueryParameters;
import dev.roost.api.ReadableNames;
import dev.roost.config.Network;
import dev.roost.event.EventTypes;
import dev.roost.runtime.Egress;
import dev.roost.schedule.Cron;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What makes a backtracking or quadratic parser work for minutes costs these none, and none is
 * surprised. Those that only their package knows are tested there.
 */
class HostileTextsTest {
  static Stream<Arguments> parsers() {
    return Stream.of(
        of(
            "requirements",
            RequirementsText::parse,
            "a[b,c]==1.0; python_version < '3'\nd==2!1.0rc1 # x"),
        of(
            "a marker",
            text -> RequirementsText.parse("a==1; python_version < '3'" + text),
            " and (os_name == \"nt\" or extra in 'a b')"),
        of("variables", EnvVars::parse, "A=1\nB_2= x = y\n# C=3\r\n"),
        of(
            "a cron expression",
            text -> Cron.parse(text).description(),
            "*/5 0-23/2 1,15,L 1-12 MON-FRI",
            "30 2 15W JAN 5#3",
            "@daily"),
        of(
            "JSON",
            text -> JsonText.parse(bytes(text)),
            "{\"a\": [1.5e-3, null, \"\\ud83d\\udc14\"]}"),
        of("a body", text -> Body.parse(bytes(text)).check(), "{\"a\": {\"b\": []}, \"c\": true}"),
        of("a line", text -> Body.parseLine(bytes(text)), "{\"key\": \"a\", \"value\": 1}\n"),
        of(
            "the fields of a body",
            HostileTextsTest::readFields,
            "-12",
            "1.5e3",
            "\"a\"",
            "[\"a\"]"),
        of(
            "times of a body",
            text -> Body.parse(bytes("{\"a\": \"%s\"}".formatted(text))).time("a"),
            "2026-11-21T18:12:41.123456Z",
            "+999999999-12-31T23:59:59-18:00",
            "-999999999-01-01T00:00:00+18:00"),
        of("a name", ReadableNames::mistake, "quiet-heron-4711", "Nightly report (EU)"),
        of("an Idempotency-Key", IdempotencyKey::check, "0b5d2a58-6f0e-4a07"),
        of("entity tags", text -> EntityTags.parse("If-Match", text), "\"12\", W/\"34\"", "*"),
        of("a cursor by identifier", text -> Cursor.id("agent", text), "agent_01m83r1wgze00bf6"),
        of("a cursor by number", text -> Cursor.number("log", text), "log_123456789012345678"),
        of(
            "a time of a query",
            text -> QueryParameters.time("since", text),
            "2026-11-21T18:12:41Z",
            "-999999999-01-01T00:00:00+18:00"),
        of(
            "states of a query",
            text -> QueryParameters.choices("state", text, List.of("queued", "running")),
            "queued, running"),
        of("a pattern of events", HostileTextsTest::match, "execution.failed", "webhook.*"),
        of("a network", Network::of, "10.0.0.0/8", "2001:db8::/32", "::ffff:192.0.2.1"),
        of("egress", Egress::parse, "192.0.2.0/24:443\n[2001:db8::7]:53", "all"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("parsers")
  void everyTextHasAnAnswerSoon(String name, Parser parser, String[] valid) {
    HostileTexts.check(parser, valid);
  }

  private static Arguments of(String name, Parser parser, String... valid) {
    return Arguments.of(name, parser, valid);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static void readFields(String value) {
    Body body = Body.parse(bytes("{\"a\": %s}".formatted(value)));
    body.bool("a");
    body.string("a");
    body.choice("a", List.of("b", "c"));
    body.strings("a");
    body.integer("a", 1, 1_000);
    body.wholeNumber("a");
    body.number("a", 0, 3_600);
    body.check();
  }

  private static void match(String pattern) {
    if (EventTypes.mistake(pattern).isEmpty()) {
      EventTypes.matching(List.of(pattern));
    }
  }
}

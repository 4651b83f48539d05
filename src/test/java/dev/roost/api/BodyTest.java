package dev.roost.api;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BodyTest {
  @Test
  void membersAreReadAsTheyAre() {
    Body body =
        body("{'s':'a\\nb','i':7,'n':1.5,'b':true,'l':['x',''],'j':{'k': 1.10},'null':null}");
    assertEquals(Optional.of("a\nb"), body.string("s"));
    assertEquals(Optional.of(7), body.integer("i", 0, 10));
    assertEquals(Optional.of(1.5), body.number("n", 0, 2));
    assertEquals(Optional.of(true), body.bool("b"));
    assertEquals(Optional.of(List.of("x", "")), body.strings("l"));
    assertEquals(Optional.of(new JsonText("{\"k\": 1.10}")), body.json("j"));
    assertEquals(Optional.of(new JsonText("null")), body.json("null"));
    assertTrue(body.isNull("null"));
    assertEquals(Optional.empty(), body.anyString("null"));
    assertEquals(Optional.empty(), body.string("absent"));
    assertFalse(body.isNull("absent"));
    assertDoesNotThrow(body::check);
  }

  @Test
  void anEmptyBodyIsAnObjectWithoutMembers() {
    for (byte[] nothing : new byte[][] {null, {}, {' '}, {'{', '}'}}) {
      assertDoesNotThrow(() -> Body.parse(nothing).check());
    }
  }

  @Test
  void everyMistakeIsReportedAtOnce() {
    Body body =
        body(
            "{'s':1,'i':1.5,'big':99999999999999999999,'n':'x','l':[1],'null':null,'name ':1,'nme':2}");
    body.string("s");
    body.integer("i", 0, 10);
    body.integer("big", 0, 10);
    body.number("n", 0, 1);
    body.strings("l");
    body.string("null");
    body.string("name");
    body.require("name");
    List<Problem.FieldError> errors = assertThrows(Problem.class, body::check).errors();
    assertEquals(
        List.of("/s", "/i", "/big", "/n", "/l", "/null", "/name", "/name ", "/nme"),
        errors.stream().map(Problem.FieldError::pointer).toList());
    assertTrue(errors.get(8).detail().contains("Did you mean \"name\"?"), errors.get(8).detail());
  }

  @Test
  void textThatCannotBeStoredIsRefusedWithItsLine() {
    for (String bad : List.of("a\\nb\\u0000", "\\n\\ud800x", "\\n\\udc00\\ud800")) {
      Body body = body("{'s':'" + bad + "'}");
      assertEquals(Optional.empty(), body.string("s"));
      assertEquals(2, assertThrows(Problem.class, body::check).errors().get(0).line());
    }
    assertEquals(Optional.of("\0"), body("{'s':'\\u0000'}").anyString("s"));
    assertEquals(Optional.of("🐔"), body("{'s':'\\ud83d\\udc14'}").string("s"));
  }

  @Test
  void numbersHaveBounds() {
    assertEquals(Optional.of(3.0), body("{'n':3e0}").number("n", 3, 3));
    for (String wrong : List.of("2.999", "3.001", "1e400", "-1e400")) {
      Body body = body("{'n':" + wrong + "}");
      assertEquals(Optional.empty(), body.number("n", 3, 3));
      assertThrows(Problem.class, body::check);
    }
  }

  @Test
  void aPointerIsEscaped() {
    Body body = body("{'a/b~c':1}");
    assertEquals("/a~1b~0c", assertThrows(Problem.class, body::check).errors().get(0).pointer());
  }

  /** JSON with ' for ", to be legible. */
  private static Body body(String json) {
    return Body.parse(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }
}

package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.TestDatabase;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class OperationsIT {
  @Inject Operations operations;
  @Inject ObjectMapper mapper;

  private String storeId;
  private Script script;

  @BeforeEach
  void makeStore() {
    script = new Script(operations, mapper);
    storeId =
        QuarkusTransaction.requiringNew().call(() -> DataStore.create(null, Instant.now()).id);
  }

  @Test
  void theOperationsAnswerAsTheLinkSays() {
    assertEquals("{'value':null,'version':0,'expires_at':null}", run("{'op':'get','key':'a'}"));
    String set = run("{'op':'set','key':'a','value':'{\\'n\\': 1.10}','ttl':null}");
    assertTrue(set.matches("\\{'version':\\d+}"), set);
    String version = set.replaceAll("\\D", "");
    assertEquals(
        "{'value':'{\\'n\\': 1.10}','version':" + version + ",'expires_at':null}",
        run("{'op':'get','key':'a'}"));
    run("{'op':'set','key':'b','value':'2','ttl':1000}");
    run("{'op':'set','key':'c\\u0000','value':'\\'\\\\u0000\\''}");
    assertEquals("{'count':3}", run("{'op':'count'}"));
    String keys = run("{'op':'scan','prefix':'','after':'a','limit':1,'values':false}");
    assertTrue(keys.matches("\\{'entries':\\[\\{'key':'b','version':\\d+}],'next':'b'}"), keys);
    String rest = run("{'op':'scan','after':'b'}");
    assertTrue(rest.contains("'value':'\\'\\\\u0000\\''") && rest.endsWith("'next':null}"), rest);
    String deleted = run("{'op':'delete','key':'b'}");
    assertTrue(deleted.matches("\\{'deleted':true,'version':[1-9]\\d*}"), deleted);
    assertEquals("{'deleted':false,'version':0}", run("{'op':'delete','key':'b'}"));
    assertEquals("{'deleted':2}", run("{'op':'clear'}"));
    assertEquals("{'count':0}", run("{'op':'count'}"));
  }

  @Test
  void mistakesAreRefused() {
    refuse(ErrorCode.VALIDATION_FAILED, "{}");
    refuse(ErrorCode.VALIDATION_FAILED, "{'op':'gett','key':'a'}");
    refuse(ErrorCode.VALIDATION_FAILED, "{'op':'get'}");
    refuse(ErrorCode.VALIDATION_FAILED, "{'op':'get','key':''}");
    refuse(ErrorCode.VALIDATION_FAILED, "{'op':'get','key':'\\ud800'}");
    refuse(ErrorCode.VALIDATION_FAILED, "{'op':'get','key':1}");
    refuse(ErrorCode.VALIDATION_FAILED, "{'op':'get','key':'a','value':'1'}");
    refuse(ErrorCode.VALIDATION_FAILED, "{'op':'set','key':'a'}");
    refuse(ErrorCode.VALIDATION_FAILED, "{'op':'set','key':'a','value':'1','ttl':0}");
    refuse(ErrorCode.VALIDATION_FAILED, "{'op':'scan','limit':1001}");
    refuse(ErrorCode.VALIDATION_FAILED, "{'op':'set','key':'a','value':'NaN'}");
    refuse(ErrorCode.TOO_LARGE, "{'op':'set','key':'a','value':'" + "1".repeat(1_048_577) + "'}");
  }

  @Test
  void aStoreThatIsGoneAcceptsNothing() {
    QuarkusTransaction.requiringNew().run(() -> DataStore.delete(storeId, false));
    refuse(ErrorCode.FENCED, "{'op':'get','key':'a'}");
    refuse(ErrorCode.FENCED, "{'op':'set','key':'a','value':'1'}");
    refuse(ErrorCode.FENCED, "{'op':'delete','key':'a'}");
    refuse(ErrorCode.FENCED, "{'op':'count'}");
    refuse(ErrorCode.FENCED, "{'op':'scan'}");
    refuse(ErrorCode.FENCED, "{'op':'clear'}");
  }

  @Test
  void onlyWhatChangesSomethingIsAWrite() {
    assertTrue(parse("{'op':'set','key':'a','value':'1'}").isWrite());
    assertTrue(parse("{'op':'delete','key':'a'}").isWrite());
    assertTrue(parse("{'op':'clear'}").isWrite());
    assertFalse(parse("{'op':'get','key':'a'}").isWrite());
    assertFalse(parse("{'op':'count'}").isWrite());
    assertFalse(parse("{'op':'scan'}").isWrite());
  }

  private void refuse(ErrorCode code, String body) {
    assertEquals(code, assertThrows(Problem.class, () -> run(body)).code(), body);
  }

  private String run(String body) {
    return script.run(storeId, body);
  }

  private static Operation parse(String body) {
    return Script.parse(body);
  }
}

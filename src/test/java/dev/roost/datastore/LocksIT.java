package dev.roost.datastore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.Await;
import dev.roost.TestDatabase;
import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Locks and receipts, which only scripts have. */
@QuarkusTest
@WithTestResource(TestDatabase.class)
class LocksIT {
  @Inject Operations operations;
  @Inject Locks locks;
  @Inject ObjectMapper mapper;

  private String store;
  private String other;
  private Script ada;
  private Script bo;

  @BeforeEach
  void makeStores() {
    store = make();
    other = make();
    ada = new Script(operations, mapper);
    bo = new Script(operations, mapper);
  }

  private static String make() {
    return QuarkusTransaction.requiringNew().call(() -> DataStore.create(null, Instant.now()).id);
  }

  @Test
  void oneHoldsALockAtATime() {
    assertEquals("{'acquired':true}", lock(ada, "h1", 30, 0));
    assertEquals("{'acquired':true}", lock(ada, "h1", 30, 0), "the same question again");
    assertEquals("{'acquired':false}", lock(bo, "h2", 30, 0));
    assertEquals("{'acquired':false}", lock(ada, "h3", 30, 0), "not reentrant");
    assertEquals(
        "{'acquired':true}",
        bo.run(store, "{'op':'lock','name':'else','holder':'h2','ttl':30,'wait':0}"));
    assertEquals("{'released':false}", unlock(bo, "h1"), "not its own");
    assertEquals("{'held':false}", renew(bo, "h1"));
    assertEquals("{'held':true}", renew(ada, "h1"));
    assertEquals("{'released':true}", unlock(ada, "h1"));
    assertEquals(
        "{'released':true}",
        ada.again(store, "{'op':'unlock','name':'l','holder':'h1'}").replace(" ", ""));
    assertEquals("{'acquired':true}", lock(bo, "h2", 30, 0));
  }

  @Test
  void whoWaitsGetsItWhenItIsReleased() throws Exception {
    lock(ada, "h1", 30, 0);
    CompletableFuture<String> waiting = CompletableFuture.supplyAsync(() -> lock(bo, "h2", 30, 20));
    assertThrows(
        java.util.concurrent.TimeoutException.class, () -> waiting.get(200, TimeUnit.MILLISECONDS));
    unlock(ada, "h1");
    assertEquals("{'acquired':true}", waiting.get(60, TimeUnit.SECONDS));
  }

  @Test
  void anExpiredLeaseIsTheHoldersUntilSomeoneTakesIt() {
    lock(ada, "h1", 0.5, 0);
    ada.run(store, "{'op':'set','key':'a','value':'1'}");
    Await.until("the lease has run out", () -> isOver("h1"));
    ada.run(store, "{'op':'set','key':'a','value':'2'}");
    assertEquals("{'held':true}", renew(ada, "h1"));
    assertEquals("{'acquired':false}", lock(bo, "h2", 30, 0));
  }

  @Test
  void whoHasLostALockWritesNothingBeforeItKnows() {
    lock(ada, "h1", 0.5, 0);
    Await.until("bo takes it", () -> lock(bo, "h2", 30, 0).contains("true"));
    for (String write :
        new String[] {
          "{'op':'set','key':'a','value':'1'}",
          "{'op':'delete','key':'a'}",
          "{'op':'pop','key':'a'}",
          "{'op':'increment','key':'a','amount':'1'}",
          "{'op':'clear'}",
          "{'op':'transaction','writes':[{'key':'a','value':'1'}]}"
        }) {
      for (String where : new String[] {store, other}) {
        Problem problem = assertThrows(Problem.class, () -> ada.run(where, write), write);
        assertEquals(ErrorCode.LOCK_LOST, problem.code());
        assertTrue(problem.getMessage().contains("\"l\""), problem.getMessage());
      }
    }
    assertEquals(
        "{'value':null,'version':0,'expires_at':null}", ada.run(store, "{'op':'get','key':'a'}"));
    assertEquals("{'held':false}", renew(ada, "h1"));
    assertEquals("{'released':false}", unlock(ada, "h1"));
    ada.run(store, "{'op':'set','key':'a','value':'1'}");
    bo.run(store, "{'op':'set','key':'a','value':'2'}");
  }

  @Test
  void theEndOfAnExecutionFreesItsLocks() {
    lock(ada, "h1", 3000, 0);
    QuarkusTransaction.requiringNew().run(() -> locks.end(ada.executionId));
    assertEquals("{'acquired':true}", lock(bo, "h2", 30, 0));
  }

  @Test
  void badNamesAndLeasesAreRefused() {
    for (String lock :
        new String[] {
          "{'op':'lock','name':'','holder':'h','ttl':30}",
          "{'op':'lock','name':'l','holder':'h'}",
          "{'op':'lock','name':'l','ttl':30}",
          "{'op':'lock','name':'l','holder':'h','ttl':0.1}",
          "{'op':'lock','name':'l','holder':'h','ttl':1e9}",
          "{'op':'lock','name':'l','holder':'h','ttl':30,'wait':21}",
          "{'op':'lock','name':'" + "x".repeat(513) + "','holder':'h','ttl':30}"
        }) {
      Problem problem = assertThrows(Problem.class, () -> ada.run(store, lock), lock);
      assertEquals(ErrorCode.VALIDATION_FAILED, problem.code());
    }
  }

  @Test
  void aWriteThatIsSentAgainIsDoneOnce() {
    String[] writes = {
      "{'op':'set','key':'a','value':'1'}",
      "{'op':'increment','key':'a','amount':'2'}",
      "{'op':'transaction','writes':[{'key':'a','increment':'1'},{'key':'b','value':'1'}]}",
      "{'op':'pop','key':'a'}",
      "{'op':'delete','key':'b'}",
      "{'op':'clear'}"
    };
    for (int i = 0; i < writes.length; i++) {
      String write = writes[i];
      String answer = ada.run(store, write);
      bo.run(store, "{'op':'increment','key':'between','amount':'1'}");
      assertEquals(answer.replace(" ", ""), ada.again(store, write).replace(" ", ""), write);
      assertEquals(answer.replace(" ", ""), ada.again(store, write).replace(" ", ""), write);
    }
    assertEquals("'value':'1'", bo.run(store, "{'op':'get','key':'between'}").substring(1, 12));
    Problem late =
        assertThrows(Problem.class, () -> ada.send(store, "{'op':'set','key':'a','value':'9'}", 1));
    assertEquals(ErrorCode.FENCED, late.code());
  }

  @Test
  void aWriteThatIsSentTwiceAtOnceIsDoneOnce() throws Exception {
    for (int round = 1; round <= 30; round++) {
      long seq = round;
      String write = "{'op':'increment','key':'n','amount':'1'}";
      CompletableFuture<String> first =
          CompletableFuture.supplyAsync(() -> ada.send(store, write, seq));
      String second = ada.send(store, write, seq);
      assertEquals(second.replace(" ", ""), first.get(30, TimeUnit.SECONDS).replace(" ", ""));
    }
    assertTrue(ada.run(store, "{'op':'get','key':'n'}").startsWith("{'value':'30'"));
  }

  private boolean isOver(String holder) {
    return QuarkusTransaction.requiringNew()
        .call(
            () ->
                (boolean)
                    io.quarkus.hibernate.orm.panache.Panache.getSession()
                        .createNativeQuery(
                            "select expires_at < now() from datastore_lock where store_id = :store and holder = :holder",
                            Boolean.class)
                        .setParameter("store", store)
                        .setParameter("holder", holder)
                        .getSingleResult());
  }

  private String lock(Script script, String holder, double ttl, int wait) {
    return script.run(
        store,
        "{'op':'lock','name':'l','holder':'%s','ttl':%s,'wait':%d}".formatted(holder, ttl, wait));
  }

  private String renew(Script script, String holder) {
    return script.run(store, "{'op':'renew','name':'l','holder':'" + holder + "','ttl':30}");
  }

  private String unlock(Script script, String holder) {
    return script.run(store, "{'op':'unlock','name':'l','holder':'" + holder + "'}");
  }
}

package dev.roost.runtime.kubernetes;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.roost.Await;
import dev.roost.runtime.Runtime.NoCapacity;
import dev.roost.runtime.Runtime.RuntimeUnavailable;
import dev.roost.runtime.Shortage;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClusterTest {
  private static final String JOBS = "/apis/batch/v1/namespaces/agents/jobs";
  private static final String SECRETS = "/api/v1/namespaces/agents/secrets";
  private static final String LOG = "/api/v1/namespaces/agents/pods/one/log";

  private final FakeApi api = new FakeApi();
  private final Cluster cluster = new Cluster(api.client, "agents");

  @AfterEach
  void close() {
    api.close();
  }

  private static Job job() {
    return new JobBuilder().withNewMetadata().withName("executor-1").endMetadata().build();
  }

  private static Secret secret() {
    return new SecretBuilder().withNewMetadata().withName("executor-1").endMetadata().build();
  }

  @Test
  void aJobThatExistsIsAdopted() {
    api.refuse("POST " + JOBS, 409, "AlreadyExists");
    api.answer(
        "GET " + JOBS + "/executor-1",
        200,
        "{\"kind\": \"Job\", \"metadata\": {\"name\": \"executor-1\", \"uid\": \"u-1\"}}");
    assertEquals("u-1", cluster.create(job()).getMetadata().getUid());
  }

  @Test
  void aJobThatAQuotaRefusesLacksCapacity() {
    api.answer(
        "POST " + JOBS,
        403,
        """
        {"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403,
         "message": "jobs.batch \\"executor-1\\" is forbidden: exceeded quota: tight, requested: count/jobs.batch=1, used: count/jobs.batch=4, limited: count/jobs.batch=4"}""");
    NoCapacity refused = assertThrows(NoCapacity.class, () -> cluster.create(job()));
    assertEquals(new Shortage(true, Set.of("count/jobs.batch")), refused.shortage());
    assertTrue(refused.getMessage().contains("exceeded quota: tight"), refused.getMessage());
    api.refuse("POST " + JOBS, 403, "Forbidden");
    assertThrows(RuntimeUnavailable.class, () -> cluster.create(job()));
  }

  @Test
  void aJobThatWentMeanwhileIsTriedAgainLater() {
    api.refuse("POST " + JOBS, 409, "AlreadyExists");
    assertThrows(RuntimeUnavailable.class, () -> cluster.create(job()));
  }

  @Test
  void aSecretThatExistsStays() {
    api.refuse("POST " + SECRETS, 409, "AlreadyExists");
    assertDoesNotThrow(() -> cluster.create(secret()));
    assertEquals(1, api.requests.size());
  }

  @ParameterizedTest
  @CsvSource({
    "403, Forbidden",
    "409, Conflict",
    "410, Expired",
    "422, Invalid",
    "429, TooManyRequests",
    "500, InternalError",
    "503, ServiceUnavailable"
  })
  void whateverElseTheApiServerSaysProvesNothing(int status, String reason) {
    api.refuse("POST " + JOBS, status, reason);
    api.refuse("POST " + SECRETS, status, reason);
    api.refuse("GET " + JOBS + "/executor-1", status, reason);
    api.refuse("DELETE " + JOBS + "/executor-1", status, reason);
    for (Runnable question :
        new Runnable[] {
          () -> cluster.create(job()),
          () -> cluster.create(secret()),
          () -> cluster.job("executor-1"),
          () -> cluster.deleteJob("executor-1")
        }) {
      RuntimeUnavailable refused = assertThrows(RuntimeUnavailable.class, question::run);
      assertTrue(refused.getMessage().contains(reason), refused.getMessage());
    }
  }

  @Test
  void whatIsNotThereIsNoError() {
    assertEquals(Optional.empty(), cluster.job("executor-1"));
    assertDoesNotThrow(() -> cluster.deleteJob("executor-1"));
  }

  @Test
  void afterAQuestionThatNobodyAnsweredTheNextOnesWait() {
    api.stop();
    Cluster patient = new Cluster(api.client, "agents", Duration.ofHours(1));
    assertThrows(RuntimeUnavailable.class, () -> patient.job("executor-1"));
    RuntimeUnavailable next =
        assertThrows(RuntimeUnavailable.class, () -> patient.job("executor-1"));
    assertNull(next.getCause(), "it was not asked");

    assertThrows(RuntimeUnavailable.class, () -> cluster.job("executor-1"));
    Await.until(
        "it is asked again",
        () -> assertThrows(RuntimeUnavailable.class, () -> cluster.job("x")).getCause() != null);
  }

  @Test
  void aRefusalHoldsNothingUp() {
    api.refuse("GET " + JOBS + "/executor-1", 500, "InternalError");
    assertThrows(RuntimeUnavailable.class, () -> cluster.job("executor-1"));
    assertEquals(Optional.empty(), cluster.job("executor-2"));
  }

  @ParameterizedTest
  @CsvSource({"400, BadRequest", "404, NotFound"})
  void aContainerThatHasNotStartedHasNoLog(int status, String reason) {
    api.refuse("GET " + LOG, status, reason);
    assertNull(cluster.log("one", "agent", null));
    assertEquals("", cluster.lastLine("one", "agent", 1));
    assertEquals(List.of("GET " + LOG, "GET " + LOG), api.requests, "nothing else is waited for");
  }

  @Test
  void aLogThatANodeDoesNotGiveIsNotTakenForAnEmptyOne() {
    api.refuse("GET " + LOG, 500, "InternalError");
    assertThrows(RuntimeUnavailable.class, () -> cluster.log("one", "agent", null));
    assertThrows(RuntimeUnavailable.class, () -> cluster.lastLine("one", "agent", 1));
  }

  @Test
  void aLogIsReadAsItIs() throws IOException {
    api.answer("GET " + LOG, 200, "grün\n");
    try (var log = cluster.log("one", "agent", null)) {
      assertEquals("grün\n", new String(log.readAllBytes(), StandardCharsets.UTF_8));
    }
    assertEquals("grün", cluster.lastLine("one", "agent", 1));
  }
}

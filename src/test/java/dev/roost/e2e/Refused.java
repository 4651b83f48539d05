package dev.roost.e2e;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A request that a script has no right to.
 *
 * @param method a POST has a token that looks like an executor's, a GET none
 * @param statuses with which it is refused; 0: there is no answer
 */
record Refused(String method, String url, Set<Integer> statuses) {
  private static final String POLL =
      "/internal/v1/executors/executor_01m800j6vxe00axq3xa27ezm62/poll";
  private static final String FRAMES =
      "/internal/v1/executions/exec_01m800j6vxe00axq3xa27ezm62/frames";

  /** Of the API server: a name may be unknown to a pod, and a network closed. */
  static List<Refused> byTheCluster(String namespace) {
    String address =
        TestCluster.get()
            .client()
            .services()
            .inNamespace("default")
            .withName("kubernetes")
            .get()
            .getSpec()
            .getClusterIP();
    String secrets = "/api/v1/namespaces/" + namespace + "/secrets";
    Set<Integer> statuses = Set.of(0, 401, 403);
    return List.of(
        new Refused("GET", "https://" + address + secrets, statuses),
        new Refused("GET", "https://kubernetes.default.svc" + secrets, statuses),
        new Refused(
            "GET", "https://kubernetes.default.svc.cluster.local/apis/batch/v1/jobs", statuses));
  }

  /** Of the control plane: the API knows nothing of the executor link, and the other way round. */
  static List<Refused> byTheControlPlane(int port, int internalPort, String storeId) {
    String api = "http://" + TestCluster.get().host() + ":" + port;
    String internal = "http://" + TestCluster.get().host() + ":" + internalPort;
    String operations = "/internal/v1/datastores/" + storeId + "/operations";
    List<Refused> all = new ArrayList<>();
    for (String path : List.of("agents", "keys", "datastore/" + storeId + "/entries/key")) {
      all.add(new Refused("GET", api + "/v1/" + path, Set.of(401)));
      all.add(new Refused("GET", internal + "/v1/" + path, Set.of(404)));
      all.add(new Refused("GET", internal + "/internal/../v1/" + path, Set.of(404)));
      all.add(new Refused("GET", internal + "/internal/%2e%2e/v1/" + path, Set.of(404)));
    }
    for (String path : List.of(POLL, FRAMES, operations)) {
      all.add(new Refused("POST", internal + path, Set.of(401)));
      all.add(new Refused("POST", api + path, Set.of(404)));
      all.add(new Refused("POST", api + "/v1/.." + path, Set.of(404)));
    }
    for (String path : List.of("/", "/openapi", "/q/health")) {
      all.add(new Refused("GET", internal + path, Set.of(404)));
    }
    return all;
  }
}

package dev.roost.datastore;

import dev.roost.*;
import dev.roost.api.*;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class DataStoreIT {
  @Test
  void probe() throws Exception {
    var api = Api.as(Role.WRITE);
    show(Api.withKey(null).get("/openapi?format=json"));
    java.nio.file.Files.writeString(
        java.nio.file.Path.of("/tmp/openapi.json"),
        api.get("/openapi", "Accept", "application/json").text());
    java.nio.file.Files.writeString(
        java.nio.file.Path.of("/tmp/openapi.yaml"), api.get("/openapi").text());
    java.nio.file.Files.writeString(
        java.nio.file.Path.of("/tmp/errors.html"), api.get("/docs/errors").text());
    show(api.get("/openapi"));
    show(api.get("/docs/errors"));
    show(api.get("/docs/"));
    show(api.get("/v1/runtime"));
    show(api.get("/v1/keys?limit=abc"));
    show(api.get("/v1/keys?limit=3"));
    show(api.post("/v1/keys", "{}"));
    show(api.post("/v1/keys", "{\"name\":\"x\",\"role\":\"read\"}"));
    show(Api.as(Role.READ).get("/v1/keys"));
    show(api.get("/v1/keys", "Accept", "text/html"));
    show(api.patch("/v1/keys", "{}"));
    show(api.post("/v1/datastore", null));
    show(api.post("/v1/datastore", "a=b", "Content-Type", "application/x-www-form-urlencoded"));
    var r = api.post("/v1/datastore", "{\"name\":\"a\"}");
    show(r);
    show(api.post("/v1/datastore", "{\"name\":\"a\"}"));
    String id = r.get("id");
    for (String k :
        new String[] {
          "a",
          "a%2Fb",
          "a/b",
          "a//b",
          "..",
          "%2E%2E",
          ".",
          "",
          "a%00b",
          "%ff",
          "%ed%a0%80",
          "a+b",
          "a;b=c",
          "a%3Fb",
          "%F0%9F%98%80",
          "%252e"
        }) {
      System.out.println(k);
      show(api.put("/v1/datastore/" + id + "/entries/" + k, " 1.10 "));
      show(api.get("/v1/datastore/" + id + "/entries/" + k));
    }
    for (String k :
        new String[] {"?limit=abc", "?limit=3", "", "/", "?prefix=a&start=a/", "?limit=0"}) {
      show(api.get("/v1/datastore/" + id + "/entries" + k));
    }
    show(api.get("/v1/datastore"));
    show(api.patch("/v1/datastore/" + id, "{\"name\":\"b\"}"));
    var o = api.post("/v1/datastore", "{\"name\":\"c\"}");
    show(api.patch("/v1/datastore/" + id, "{\"name\":\"c\"}"));
    show(api.delete("/v1/datastore/" + id));
  }

  static void show(Api.Answer a) {
    System.out.println(
        a.status()
            + " "
            + a.header("ETag")
            + " "
            + a.header("Content-Type")
            + " "
            + a.header("Allow")
            + " "
            + a.text().substring(0, Math.min(700, a.text().length())));
  }
}

package dev.roost.datastore;

import static io.restassured.RestAssured.given;

import dev.roost.TestDatabase;
import dev.roost.api.ApiKey;
import dev.roost.api.Role;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.time.Instant;
import org.junit.jupiter.api.Test;

@QuarkusTest
@WithTestResource(TestDatabase.class)
class DataStoreIT {
  @Test
  void probe() {
    String key =
        QuarkusTransaction.requiringNew()
            .call(() -> ApiKey.make("x", Role.WRITE, Instant.now()).text());
    for (String path :
        new String[] {
          "/v1/datastore",
          "/%761/datastore",
          "//v1/datastore",
          "/./v1/datastore",
          "/v1;a=b/datastore",
          "/V1/datastore",
          "/v1/../v1/datastore",
          "/x/../v1/datastore",
          "/docs/../v1/datastore",
          "/%2fv1/datastore",
          "/docs/errors",
          "/docs/",
          "/docs",
          "/openapi"
        }) {
      System.out.println(
          path
              + " "
              + given().urlEncodingEnabled(false).redirects().follow(false).get(path).statusCode());
    }
    var spec = given().header("Authorization", "Bearer " + key).contentType("application/json");
    var r = spec.body("{\"name\":\"a\"}").post("/v1/datastore");
    System.out.println(r.statusCode() + r.asString() + r.headers());
    String id = r.path("id");
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
          "%zz",
          "%ff",
          "%ed%a0%80",
          "a+b",
          "a;b=c",
          "a%3Fb",
          "%F0%9F%98%80"
        }) {
      r =
          given()
              .urlEncodingEnabled(false)
              .header("Authorization", "Bearer " + key)
              .contentType("application/json")
              .body(" 1.10 ".getBytes())
              .put("/v1/datastore/" + id + "/entries/" + k);
      System.out.println(k + " -> " + r.statusCode() + r.asString() + r.header("ETag"));
      r =
          given()
              .urlEncodingEnabled(false)
              .header("Authorization", "Bearer " + key)
              .get("/v1/datastore/" + id + "/entries/" + k);
      System.out.println("    " + k + " -> " + r.statusCode() + r.asString() + r.header("ETag"));
    }
    for (String k :
        new String[] {"?limit=abc", "?limit=3", "", "/", "?prefix=a&start=a/", "?limit=0"}) {
      r =
          given()
              .urlEncodingEnabled(false)
              .header("Authorization", "Bearer " + key)
              .get("/v1/datastore/" + id + "/entries" + k);
      System.out.println("    " + k + " -> " + r.statusCode() + r.asString() + r.header("ETag"));
    }
    r = given().header("Authorization", "Bearer " + key).get("/v1/datastore");
    System.out.println(r.statusCode() + r.asString());
    r = given().header("Authorization", "Bearer " + key).patch("/v1/datastore");
    System.out.println(r.statusCode() + r.asString() + r.headers());
    r =
        given()
            .header("Authorization", "Bearer " + key)
            .body("a=b")
            .contentType("application/x-www-form-urlencoded")
            .post("/v1/datastore");
    System.out.println(r.statusCode() + r.asString() + r.headers());
    r = given().header("Authorization", "Bearer " + key).post("/v1/datastore");
    System.out.println(r.statusCode() + r.asString() + r.headers());
    r =
        given()
            .header("Authorization", "Bearer " + key)
            .contentType("application/json")
            .body("{\"name\":\"a\"}")
            .post("/v1/datastore");
    System.out.println(r.statusCode() + r.asString() + r.headers());
    r =
        given()
            .header("Authorization", "Bearer " + key)
            .contentType("application/json")
            .body("{\"name\":\"a\"}")
            .patch("/v1/datastore/" + r.path("id"));
    System.out.println(r.statusCode() + r.asString() + r.headers());
    r = given().header("Authorization", "Bearer " + key).delete("/v1/datastore/" + id);
    System.out.println(r.statusCode() + r.asString() + r.headers());
  }
}

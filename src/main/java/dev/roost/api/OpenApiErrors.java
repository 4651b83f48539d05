package dev.roost.api;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.responses.APIResponse;

/** The errors in the OpenAPI document: one response per code, named after the code. */
final class OpenApiErrors {
  private OpenApiErrors() {}

  static Map<String, APIResponse> responses() {
    Map<String, APIResponse> responses = new LinkedHashMap<>();
    for (ErrorCode code : ErrorCode.values()) {
      responses.put(code.code(), response(code));
    }
    return responses;
  }

  static Map<String, Schema> schemas() {
    return Map.of("Problem", problem(), "FieldError", fieldError());
  }

  private static APIResponse response(ErrorCode code) {
    APIResponse response =
        OASFactory.createAPIResponse()
            .description(code.title() + ". " + code.advice())
            .content(
                OASFactory.createContent()
                    .addMediaType(
                        "application/problem+json",
                        OASFactory.createMediaType()
                            .schema(OASFactory.createSchema().ref("Problem"))
                            .example(example(code))));
    if (code.status() == 429 || code.status() == 503) {
      response.addHeader(
          "Retry-After",
          OASFactory.createHeader()
              .description("Seconds to wait")
              .schema(OASFactory.createSchema().addType(Schema.SchemaType.INTEGER)));
    }
    return response;
  }

  private static Map<String, Object> example(ErrorCode code) {
    Map<String, Object> example = new LinkedHashMap<>();
    example.put("type", "/docs/errors#" + code.code());
    example.put("title", code.title());
    example.put("status", code.status());
    example.put("code", code.code());
    if (code == ErrorCode.VALIDATION_FAILED) {
      String detail = "There is no field \"nmae\". Did you mean \"name\"?";
      Map<String, Object> mistake = new LinkedHashMap<>();
      mistake.put("pointer", "/nmae");
      mistake.put("code", "unknown_field");
      mistake.put("detail", detail);
      example.put("detail", detail);
      example.put("errors", List.of(mistake));
    } else {
      example.put("detail", "What went wrong this time, and what to do about it.");
    }
    example.put("request_id", "req_01jd4m8z6hf0r9w2x3c5v7b8na");
    return example;
  }

  private static Schema problem() {
    List<Object> codes =
        Arrays.stream(ErrorCode.values()).map(ErrorCode::code).map(Object.class::cast).toList();
    return OASFactory.createSchema()
        .addType(Schema.SchemaType.OBJECT)
        .description("An error, as RFC 9457 has it. All mistakes of a request are in it at once.")
        .required(List.of("type", "title", "status", "code", "detail", "request_id"))
        .addProperty("type", text("Leads to an explanation").format("uri-reference"))
        .addProperty("title", text("What the code means; always the same"))
        .addProperty(
            "status",
            OASFactory.createSchema()
                .addType(Schema.SchemaType.INTEGER)
                .description("That of the HTTP answer; the same code always has the same"))
        .addProperty("code", text("For programs").enumeration(codes))
        .addProperty("detail", text("What is wrong this time, for a person"))
        .addProperty(
            "errors",
            OASFactory.createSchema()
                .addType(Schema.SchemaType.ARRAY)
                .items(OASFactory.createSchema().ref("FieldError"))
                .description("The single mistakes, where the request has some"))
        .addProperty("request_id", text("The X-Request-Id, under which Roost's log tells more"));
  }

  private static Schema fieldError() {
    return OASFactory.createSchema()
        .addType(Schema.SchemaType.OBJECT)
        .description("One mistake in a request")
        .required(List.of("pointer", "code", "detail"))
        .addProperty(
            "pointer",
            text("JSON pointer into the body, ?name of a query parameter, or a header's name"))
        .addProperty(
            "line",
            OASFactory.createSchema()
                .addType(Schema.SchemaType.INTEGER)
                .addType(Schema.SchemaType.NULL)
                .description("From 1, where the field is text with lines"))
        .addProperty("code", text("What kind of mistake, for example unknown_field"))
        .addProperty("detail", text("What is wrong and what to write instead"));
  }

  private static Schema text(String description) {
    return OASFactory.createSchema().addType(Schema.SchemaType.STRING).description(description);
  }
}

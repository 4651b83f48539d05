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
              .description("Seconds to wait before a retry")
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
      example.put("detail", "What is wrong, and how to fix it.");
    }
    example.put("request_id", "req_01jd4m8z6hf0r9w2x3c5v7b8na");
    return example;
  }

  private static Schema problem() {
    List<Object> codes =
        Arrays.stream(ErrorCode.values()).map(ErrorCode::code).map(Object.class::cast).toList();
    return OASFactory.createSchema()
        .addType(Schema.SchemaType.OBJECT)
        .description("An error (RFC 9457). It lists all invalid fields of a request at once.")
        .required(List.of("type", "title", "status", "code", "detail", "request_id"))
        .addProperty("type", text("A link to the explanation of the code").format("uri-reference"))
        .addProperty(
            "title", text("The meaning of the code; the same for all errors with this code"))
        .addProperty(
            "status",
            OASFactory.createSchema()
                .addType(Schema.SchemaType.INTEGER)
                .description("The HTTP status; the same for all errors with this code"))
        .addProperty("code", text("For programs").enumeration(codes))
        .addProperty("detail", text("What is wrong with this request, as a message"))
        .addProperty(
            "errors",
            OASFactory.createSchema()
                .addType(Schema.SchemaType.ARRAY)
                .items(OASFactory.createSchema().ref("FieldError"))
                .description("The invalid fields of the request, if there are any"))
        .addProperty(
            "request_id", text("The X-Request-Id, which identifies the request in Roost's log"));
  }

  private static Schema fieldError() {
    return OASFactory.createSchema()
        .addType(Schema.SchemaType.OBJECT)
        .description("An invalid field of a request")
        .required(List.of("pointer", "code", "detail"))
        .addProperty(
            "pointer",
            text(
                "JSON pointer into the body, ?name for a query parameter, or the name of a header"))
        .addProperty(
            "line",
            OASFactory.createSchema()
                .addType(Schema.SchemaType.INTEGER)
                .addType(Schema.SchemaType.NULL)
                .description("The line, from 1, if the field has lines"))
        .addProperty("code", text("The kind of error, for example unknown_field"))
        .addProperty("detail", text("What is wrong, and the correct form"));
  }

  private static Schema text(String description) {
    return OASFactory.createSchema().addType(Schema.SchemaType.STRING).description(description);
  }
}

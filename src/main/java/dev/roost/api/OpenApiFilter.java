package dev.roost.api;

import jakarta.ws.rs.core.Response;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.Components;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.PathItem;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.parameters.Parameter;
import org.eclipse.microprofile.openapi.models.responses.APIResponse;
import org.eclipse.microprofile.openapi.models.security.SecurityScheme;

/**
 * Adds the parts that all operations share to the OpenAPI document: errors, credentials and paging
 * parameters. Removes operations that are not public.
 */
public class OpenApiFilter implements OASFilter {
  private static final String PUBLIC = "/v1/";
  private static final String SECURITY = "key";
  private static final String SESSION = "session";
  private static final String PAGE_TOKEN = "page_token";

  /** Errors that any operation can return. */
  private static final List<ErrorCode> ALWAYS =
      List.of(
          ErrorCode.UNAUTHENTICATED,
          ErrorCode.FORBIDDEN,
          ErrorCode.VALIDATION_FAILED,
          ErrorCode.RATE_LIMITED,
          ErrorCode.INTERNAL,
          ErrorCode.UNAVAILABLE);

  /** Errors that any operation with a body can return. */
  private static final List<ErrorCode> WITH_BODY =
      List.of(
          ErrorCode.MALFORMED_JSON,
          ErrorCode.TOO_LARGE,
          ErrorCode.UNSUPPORTED_MEDIA_TYPE,
          ErrorCode.REQUEST_TIMEOUT);

  @Override
  public void filterOpenAPI(OpenAPI document) {
    Map<String, PathItem> paths = new TreeMap<>(document.getPaths().getPathItems());
    paths.keySet().removeIf(path -> !path.startsWith(PUBLIC));
    document.getPaths().setPathItems(paths);
    Components components = document.getComponents();
    OpenApiSchemas found = new OpenApiSchemas(components.getSchemas());
    paths.forEach(
        (path, item) ->
            item.getOperations()
                .forEach(
                    (method, operation) -> {
                      found.rename(operation);
                      complete(path, method, operation);
                    }));
    Map<String, Schema> schemas = new TreeMap<>(found.schemas());
    schemas.putAll(OpenApiErrors.schemas());
    components.setSchemas(schemas);
    components.setResponses(OpenApiErrors.responses());
    components.addSecurityScheme(
        SECURITY,
        OASFactory.createSecurityScheme()
            .type(SecurityScheme.Type.HTTP)
            .scheme("bearer")
            .bearerFormat("roost_<id>_<secret>")
            .description(
                "An API key (the first start of Roost creates one), or an access token of the identity "
                    + "provider of the setting roost.oauth.issuer."));
    components.addSecurityScheme(
        SESSION,
        OASFactory.createSecurityScheme()
            .type(SecurityScheme.Type.APIKEY)
            .in(SecurityScheme.In.COOKIE)
            .name(SessionCookie.NAME)
            .description(
                "The session of a browser that has signed in (POST /v1/session). At an address with a port, \"_\" and the port follow the name."));
    components.addSecurityScheme(
        PAGE_TOKEN,
        OASFactory.createSecurityScheme()
            .type(SecurityScheme.Type.APIKEY)
            .in(SecurityScheme.In.HEADER)
            .name(RequestFilters.PAGE_TOKEN)
            .description(
                "The page token from the response to sign-in. Requests require both the token and the "
                    + "session cookie."));
    document.setSecurity(
        List.of(
            OASFactory.createSecurityRequirement().addScheme(SECURITY, List.of()),
            OASFactory.createSecurityRequirement()
                .addScheme(SESSION, List.of())
                .addScheme(PAGE_TOKEN, List.of())));
  }

  private static void complete(String path, PathItem.HttpMethod method, Operation operation) {
    List<ErrorCode> errors = new ArrayList<>(ALWAYS);
    if (method != PathItem.HttpMethod.GET) {
      errors.add(ErrorCode.CONFLICT); // Concurrent requests may conflict.
      if (method != PathItem.HttpMethod.DELETE) {
        errors.add(ErrorCode.STORAGE_FULL);
      }
    }
    if (path.contains("{")
        || path.equals("/v1/statistics") // Of one agent.
        || path.startsWith("/v1/approval-links/")) { // Of the link in the body.
      errors.add(ErrorCode.NOT_FOUND);
    }
    List<Parameter> parameters =
        operation.getParameters() == null ? List.of() : operation.getParameters();
    if (path.equals("/v1/events")) {
      errors.add(ErrorCode.GONE); // An annotation would replace the response by media type.
    }
    if (operation.getRequestBody() != null) {
      errors.addAll(WITH_BODY);
      // Responses for insufficient storage.
      Arrays.stream(ErrorCode.values()).filter(code -> code.status() == 507).forEach(errors::add);
    }
    Map<String, APIResponse> responses = new TreeMap<>(operation.getResponses().getAPIResponses());
    for (ErrorCode code : errors) {
      responses.putIfAbsent(
          Integer.toString(code.status()), OASFactory.createAPIResponse().ref(code.code()));
    }
    responses.forEach(OpenApiFilter::describe);
    operation.getResponses().setAPIResponses(responses);
    parameters.forEach(OpenApiFilter::describe);
  }

  /** OpenAPI requires a description for each response; annotations may omit the description. */
  private static void describe(String status, APIResponse response) {
    if (response.getRef() == null && response.getDescription() == null) {
      response.setDescription(
          Response.Status.fromStatusCode(Integer.parseInt(status)).getReasonPhrase());
    }
  }

  private static void describe(Parameter parameter) {
    if (parameter.getDescription() != null) {
      return;
    }
    if (parameter.getIn() == Parameter.In.PATH && parameter.getName().equals("id")) {
      parameter.setDescription("Its identifier");
    } else if (parameter.getName().equals("limit")) {
      parameter.setDescription("The maximum number of items, 1 to " + Page.MAX_LIMIT);
      parameter.setSchema(
          OASFactory.createSchema()
              .addType(Schema.SchemaType.INTEGER)
              .minimum(BigDecimal.ONE)
              .maximum(BigDecimal.valueOf(Page.MAX_LIMIT))
              .defaultValue(Page.DEFAULT_LIMIT));
    } else if (parameter.getName().equals("cursor")) {
      parameter.setDescription("The next_cursor of the previous page");
    }
  }
}

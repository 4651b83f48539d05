package dev.roost.api;

import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.ext.Provider;
import java.io.InputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import org.jboss.resteasy.reactive.server.core.CurrentRequestManager;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveResourceInfo;
import org.jboss.resteasy.reactive.server.spi.ServerMessageBodyReader;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/** Passes the received bytes to resource methods without copying them. */
@Provider
public class BodyReader implements ServerMessageBodyReader<byte[]> {
  @Override
  public boolean isReadable(
      Class<?> type, Type generic, ResteasyReactiveResourceInfo method, MediaType mediaType) {
    return type == byte[].class;
  }

  @Override
  public byte[] readFrom(
      Class<byte[]> type, Type generic, MediaType mediaType, ServerRequestContext context) {
    return received();
  }

  @Override
  public boolean isReadable(
      Class<?> type, Type generic, Annotation[] annotations, MediaType mediaType) {
    return type == byte[].class;
  }

  @Override
  public byte[] readFrom(
      Class<byte[]> type,
      Type generic,
      Annotation[] annotations,
      MediaType mediaType,
      MultivaluedMap<String, String> headers,
      InputStream stream) {
    return received();
  }

  private static byte[] received() {
    return ReceivedBody.bytesOf(
        CurrentRequestManager.get().serverRequest().unwrap(RoutingContext.class));
  }
}

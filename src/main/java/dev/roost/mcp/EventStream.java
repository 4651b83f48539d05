package dev.roost.mcp;

import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.Cancellable;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.ext.Provider;
import java.io.OutputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.server.core.ResteasyReactiveRequestContext;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveResourceInfo;
import org.jboss.resteasy.reactive.server.spi.ServerMessageBodyWriter;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;

/**
 * A response of server-sent events, of a method that may also respond with JSON: methods that
 * return a Multi always stream.
 *
 * @param response of the request, to which the events are written
 */
record EventStream(Multi<Reply.Event> events, HttpServerResponse response) {
  private static final Logger LOG = Logger.getLogger(EventStream.class);
  private static final byte[] IDLE = ": still here\n\n".getBytes(StandardCharsets.US_ASCII);

  /** An event in the format of the HTML standard, with a line for each line of the JSON text. */
  static Buffer format(Reply.Event event) {
    Buffer buffer = Buffer.buffer();
    if (event.id() != null) {
      buffer.appendString("id: ").appendString(event.id()).appendString("\n");
    }
    if (event.json() == null) {
      return event.id() == null
          ? buffer.appendBytes(IDLE)
          : buffer.appendString("data: \n\n"); // An identifier alone
    }
    buffer.appendString("data: ");
    byte[] json = event.json();
    int from = 0;
    for (int i = 0; i < json.length; i++) {
      // Within texts, both are escaped: between values, they are white space.
      if (json[i] == '\n' || json[i] == '\r') {
        buffer.appendBytes(json, from, i - from).appendString("\ndata: ");
        from = i + 1;
      }
    }
    return buffer.appendBytes(json, from, json.length - from).appendString("\n\n");
  }

  /** Each event is written when the one before has left. */
  private void write(Runnable done) {
    AtomicBoolean isDone = new AtomicBoolean();
    Runnable once =
        () -> {
          if (isDone.compareAndSet(false, true)) {
            done.run();
          }
        };
    response.setChunked(true);
    Cancellable running =
        events
            .onItem()
            .transformToUniAndConcatenate(
                event ->
                    Uni.createFrom()
                        .completionStage(() -> response.write(format(event)).toCompletionStage()))
            .subscribe()
            .with(
                written -> {},
                e -> {
                  if (!response.closed()) {
                    LOG.warnf(e, "a stream of events was aborted");
                    response.reset();
                  }
                  once.run();
                },
                () -> {
                  if (!response.closed()) {
                    response.end();
                  }
                  once.run();
                });
    response.closeHandler(
        closed -> {
          running.cancel();
          once.run();
        });
    if (response.closed()) {
      running.cancel();
      once.run();
    }
  }

  /** Writes such responses. */
  @Provider
  public static class Writer implements ServerMessageBodyWriter<EventStream> {
    @Override
    public boolean isWriteable(
        Class<?> type, Type genericType, ResteasyReactiveResourceInfo target, MediaType mediaType) {
      return EventStream.class.isAssignableFrom(type);
    }

    @Override
    public boolean isWriteable(
        Class<?> type, Type genericType, Annotation[] annotations, MediaType mediaType) {
      return EventStream.class.isAssignableFrom(type);
    }

    @Override
    public void writeResponse(EventStream stream, Type genericType, ServerRequestContext context) {
      ResteasyReactiveRequestContext request = (ResteasyReactiveRequestContext) context;
      request.suspend();
      stream.write(request::resume);
    }

    @Override
    public void writeTo(
        EventStream stream,
        Class<?> type,
        Type genericType,
        Annotation[] annotations,
        MediaType mediaType,
        MultivaluedMap<String, Object> headers,
        OutputStream output) {
      throw new WebApplicationException("Events are written to the connection itself.");
    }
  }
}

package dev.roost.e2e;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.GZIPInputStream;

/** Receives spans by OTLP over HTTP, and keeps them. */
final class SpanCollector implements AutoCloseable {
  private final HttpServer server;
  private final List<Span> spans = new CopyOnWriteArrayList<>();

  SpanCollector() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext("/v1/traces", this::receive);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Those of a trace, by its identifier. */
  List<Span> of(String traceId) {
    return spans.stream()
        .filter(span -> hex(span.getTraceId().toByteArray()).equals(traceId))
        .toList();
  }

  static String id(Span span) {
    return hex(span.getSpanId().toByteArray());
  }

  static String parent(Span span) {
    return hex(span.getParentSpanId().toByteArray());
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private void receive(HttpExchange exchange) throws IOException {
    boolean packed = "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
    try (InputStream body = exchange.getRequestBody();
        InputStream plain = packed ? new GZIPInputStream(body) : body) {
      ExportTraceServiceRequest.parseFrom(plain).getResourceSpansList().stream()
          .flatMap(resource -> resource.getScopeSpansList().stream())
          .flatMap(scope -> scope.getSpansList().stream())
          .forEach(spans::add);
    }
    exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
    exchange.sendResponseHeaders(200, -1);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}

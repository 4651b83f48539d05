package dev.roost.start;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.logging.Level;
import org.jboss.logmanager.ExtFormatter;
import org.jboss.logmanager.ExtLogRecord;
import org.jboss.logmanager.LogContext;
import org.jboss.logmanager.handlers.ConsoleHandler;

/**
 * Writes each log event as one line of JSON, even if its message or stack trace has several lines.
 * Quarkus accepts another console format only from an extension, so this is a separate handler,
 * active from the first event on.
 */
final class JsonLog extends ExtFormatter {
  /** The setting's value. */
  static final String FORMAT = "json";

  private final ObjectMapper mapper = new ObjectMapper();

  /** Replaces Quarkus's console handler, which is turned off. */
  static void install(Level level) {
    ConsoleHandler handler = new ConsoleHandler(ConsoleHandler.Target.SYSTEM_OUT, new JsonLog());
    handler.setLevel(level);
    LogContext.getLogContext().getLogger("").addHandler(handler);
    Main.set("quarkus.log.console.enabled", "false");
  }

  @Override
  public String format(ExtLogRecord event) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("time", event.getInstant().toString());
    fields.put("level", event.getLevel().getName());
    fields.put("logger", event.getLoggerName());
    fields.put("thread", event.getThreadName());
    fields.put("message", event.getFormattedMessage());
    if (event.getThrown() != null) {
      fields.put("error", trace(event.getThrown()));
    }
    event.getMdcCopy().forEach(fields::putIfAbsent);
    try {
      return mapper.writeValueAsString(fields) + "\n";
    } catch (JsonProcessingException e) {
      return "{\"time\":\"%s\",\"level\":\"ERROR\",\"message\":\"a log event is no JSON\"}\n"
          .formatted(Instant.now());
    }
  }

  private static String trace(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text, true));
    return text.toString();
  }
}

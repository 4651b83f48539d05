package dev.roost.webhook;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.roost.api.Json;
import java.time.Instant;

/**
 * An event in the JSON format of CloudEvents 1.0, with the sequence extension: positions with
 * leading zeros, so that they sort as text.
 *
 * @param position in the log of events; also the identifier, which is unique within an installation
 * @param installation identifies this installation
 * @param data a JSON object, whose text stays unchanged
 */
record CloudEvent(
    long position, String installation, String type, String subject, Instant time, String data) {
  static final String MEDIA_TYPE = "application/cloudevents+json";

  String json() {
    return """
        {"specversion":"1.0","id":"%d","source":%s,"type":%s,"subject":%s,"time":"%s",\
        "datacontenttype":"application/json","sequence":"%019d","data":%s}"""
        .formatted(
            position,
            quote("urn:roost:" + installation),
            quote("dev.roost." + type),
            quote(subject),
            Json.time(time),
            position,
            data);
  }

  private static String quote(String text) {
    return '"' + String.valueOf(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
  }
}

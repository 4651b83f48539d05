package dev.roost;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Values in JSON, found by paths. */
public final class JsonValues {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern PATH = Pattern.compile("[\\w.\\[\\]-]*");

  private JsonValues() {}

  /** See {@link Api.Answer#get}. */
  public static Object at(byte[] json, String path) {
    if (!PATH.matcher(path).matches()) {
      throw new IllegalArgumentException("not a path: " + path);
    }
    try {
      Object value = JSON.readValue(json, Object.class);
      for (String name : path.replace("[", ".[").split("\\.")) {
        value = name.isEmpty() ? value : in(value, name);
      }
      return value;
    } catch (IOException e) {
      throw new AssertionError("no JSON: " + new String(json), e);
    }
  }

  private static Object in(Object value, String name) {
    if (value instanceof List<?> list) {
      if (name.startsWith("[")) {
        int index = Integer.parseInt(name.substring(1, name.length() - 1));
        return index < list.size() ? list.get(index) : null;
      }
      List<Object> members = new ArrayList<>();
      list.forEach(each -> members.add(in(each, name)));
      return members;
    }
    return value instanceof Map<?, ?> map ? map.get(name) : null;
  }
}

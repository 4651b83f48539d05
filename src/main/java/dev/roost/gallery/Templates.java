package dev.roost.gallery;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.roost.api.JsonText;
import jakarta.enterprise.context.ApplicationScoped;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The templates, each a directory of {@code templates} with the files {@code agent.py}, {@code
 * requirements.txt} and {@code template.json}. {@code index.json} has their order.
 */
@ApplicationScoped
class Templates {
  private static final String DIRECTORY = "templates/";

  private final List<AgentTemplate> all;

  Templates(ObjectMapper mapper) throws IOException {
    List<AgentTemplate> read = new ArrayList<>();
    for (String name : mapper.readValue(text("index.json"), String[].class)) {
      read.add(template(mapper, name));
    }
    all = List.copyOf(read);
  }

  List<AgentTemplate> all() {
    return all;
  }

  Optional<AgentTemplate> find(String name) {
    return all.stream().filter(template -> template.name().equals(name)).findFirst();
  }

  private static AgentTemplate template(ObjectMapper mapper, String name) throws IOException {
    JsonNode about = mapper.readTree(text(name + "/template.json"));
    return new AgentTemplate(
        name,
        about.path("title").asText(),
        about.path("summary").asText(),
        about.path("description").asText(),
        mapper.convertValue(about.path("tags"), new TypeReference<List<String>>() {}),
        text(name + "/agent.py"),
        text(name + "/requirements.txt"),
        mapper.convertValue(
            about.path("variables"), new TypeReference<List<AgentTemplate.Variable>>() {}),
        about.path("uses_store").asBoolean(),
        about.path("payload").isNull() ? null : new JsonText(about.path("payload").toString()),
        mapper.convertValue(about.path("schedule"), AgentTemplate.Schedule.class));
  }

  private static String text(String path) {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    try (InputStream file = loader.getResourceAsStream(DIRECTORY + path)) {
      if (file == null) {
        throw new FileNotFoundException(DIRECTORY + path);
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

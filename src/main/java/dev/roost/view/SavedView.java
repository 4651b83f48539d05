package dev.roost.view;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.roost.db.Code;
import io.quarkus.hibernate.orm.panache.PanacheEntityBase;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.EnumeratedValue;
import jakarta.persistence.Id;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** A named filter of one of the dashboard's lists, with its sort order and columns. */
@Entity(name = "saved_view")
public class SavedView extends PanacheEntityBase {
  /** The lists that have views. */
  public enum ViewedList implements Code {
    AGENTS,
    EXECUTIONS;

    @EnumeratedValue private final String code = Code.of(this);

    @Override
    @JsonValue
    public String code() {
      return code;
    }
  }

  @Id public String id;

  @Enumerated(EnumType.STRING)
  public ViewedList list;

  public String name;
  public String filter;

  /** Null: the list's own order. */
  public String sort;

  /** Null: the columns that the list has at first. */
  public String[] columns;

  public boolean grouped;
  public Instant createdAt;
  public Instant updatedAt;

  /** A view in API responses. */
  @Schema(name = "SavedView")
  public record View(
      String id,
      @Schema(description = "The list that it is of") ViewedList list,
      @Schema(description = "Unique among the views of the list") String name,
      @Schema(
              description = "The text of the dashboard's filter field; empty for no filter",
              examples = "state:failed tag:billing since:1d")
          String filter,
      @Schema(
              nullable = true,
              description = "A value of the list's sort parameter; null for newest first",
              examples = "-duration")
          String sort,
      @Schema(
              nullable = true,
              description = "The columns that are shown; null for those that are shown at first")
          List<String> columns,
      @Schema(description = "Whether agents are grouped by tag") boolean grouped,
      Instant createdAt,
      Instant updatedAt) {
    static View of(SavedView view) {
      return new View(
          view.id,
          view.list,
          view.name,
          view.filter,
          view.sort,
          view.columns == null ? null : List.of(view.columns),
          view.grouped,
          view.createdAt,
          view.updatedAt);
    }
  }
}

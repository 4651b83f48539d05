package dev.roost.api;

import io.quarkus.arc.All;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.eclipse.microprofile.openapi.annotations.Operation;

/** The page that the {@code type} of each problem document links to. */
@Path("/docs/errors")
public class ErrorsPage {
  private static final String HEAD =
      """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>Roost: errors</title>
      <style>
        :root {
          color-scheme: light dark;
          --text: #1f2328; --faint: #59636e; --line: #d8dee4; --back: #fff; --mark: #fff4d6; --link: #0a5fc2;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --text: #e6e9ec; --faint: #9aa4ae; --line: #343b43; --back: #15191d; --mark: #3a3116; --link: #77b5ff;
          }
        }
        body {
          margin: 0 auto; padding: 2.5rem 1.25rem 5rem; max-width: 46rem;
          font: 16px/1.6 system-ui, sans-serif; color: var(--text); background: var(--back);
        }
        h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .5rem; }
        h2 { font-size: 1.25rem; margin: 3rem 0 .25rem; }
        h3 { font-size: 1rem; margin: 0; }
        p { margin: .25rem 0 0; }
        a { color: var(--link); }
        h3 a { color: inherit; text-decoration: none; }
        h3 a:hover { text-decoration: underline; }
        code { font: .9375em/1.5 ui-monospace, monospace; }
        .faint { color: var(--faint); }
        article { padding: 1rem .75rem; border-top: 1px solid var(--line); scroll-margin-top: 1rem; }
        section > article:first-of-type { margin-top: 1rem; }
        article:target { background: var(--mark); }
        .status { float: right; color: var(--faint); font-variant-numeric: tabular-nums; }
      </style>
      </head>
      <body>
      <main>
      <h1>Errors</h1>
      <p class="faint">What each code means and what to do about it. The interface itself is described
      at <a href="/docs/">/docs</a>.</p>
      """;

  private static final String FOOT =
      """
      </main>
      </body>
      </html>
      """;

  private final String page;

  ErrorsPage(@All List<ErrorTexts> others) {
    List<ErrorTexts> tables = new ArrayList<>(others);
    tables.add(ErrorTexts.ofProblems());
    tables.sort(Comparator.comparingInt(ErrorTexts::order));
    this.page = render(tables);
  }

  @GET
  @Produces(MediaType.TEXT_HTML)
  @Operation(hidden = true)
  public String get() {
    return page;
  }

  /**
   * The anchor is the code. If an earlier table has the same code, the anchor is the table's id and
   * the code.
   */
  static String render(List<ErrorTexts> tables) {
    StringBuilder html = new StringBuilder(HEAD);
    Set<String> anchors = new HashSet<>();
    for (ErrorTexts table : tables) {
      html.append(
          """
          <section aria-labelledby="%1$s">
          <h2 id="%1$s">%2$s</h2>
          <p class="faint">%3$s</p>
          """
              .formatted(escape(table.id()), escape(table.title()), escape(table.introduction())));
      for (ErrorTexts.Row row : table.rows()) {
        String anchor = anchors.add(row.code()) ? row.code() : table.id() + "-" + row.code();
        html.append(article(anchor, row));
      }
      html.append("</section>\n");
    }
    return html.append(FOOT).toString();
  }

  private static String article(String anchor, ErrorTexts.Row row) {
    String status =
        row.status() == null ? "" : "<span class=\"status\">%d</span>".formatted(row.status());
    return """
        <article id="%1$s">
        %2$s<h3><a href="#%1$s"><code>%3$s</code></a></h3>
        <p><strong>%4$s.</strong> %5$s</p>
        </article>
        """
        .formatted(
            escape(anchor), status, escape(row.code()), escape(row.title()), escape(row.advice()));
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}

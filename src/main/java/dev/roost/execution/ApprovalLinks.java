package dev.roost.execution;

import dev.roost.api.ErrorCode;
import dev.roost.api.Problem;
import dev.roost.api.PublicUrl;
import dev.roost.api.Secrets;
import dev.roost.api.Text;
import dev.roost.config.RoostConfig;
import dev.roost.db.Database;
import dev.roost.db.Sql;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * Links for mails and chats that decide an approval without a key. Following one only shows the
 * approval, as scanners of mails follow links, too; the page's buttons decide. An approval is
 * decided once, so a link works once.
 */
@ApplicationScoped
class ApprovalLinks {
  private static final Sql MAKE =
      Sql.of(
          """
          insert into approval_link (secret_sha256, approval_id, assignee, expires_at)
          select :hash, a.id, cast(:assignee as text), least(:expires, coalesce(a.expires_at, :expires)) from approval a
          where a.id = :id and a.state = 'pending'
          returning expires_at""");

  private static final Sql FIND =
      Sql.of(
          """
          select approval_id, assignee from approval_link where secret_sha256 = :hash and expires_at > :now""");

  private final Database database;
  private final Approvals approvals;
  private final Optional<String> publicUrl;
  private final Clock clock;

  ApprovalLinks(Database database, Approvals approvals, RoostConfig config, Clock clock) {
    this.database = database;
    this.approvals = approvals;
    this.publicUrl = PublicUrl.of(config);
    this.clock = clock;
  }

  /** A link. */
  @Schema(name = "ApprovalLink")
  record Link(
      @Schema(
              description =
                  "Where the approval is shown and decided: a URL if roost.public-url is set, otherwise its path "
                      + "and fragment. Whoever has it can decide",
              examples = "https://roost.example/approve#token=4e2a51…")
          String url,
      @Schema(description = "When the link ends, at the latest when the approval does")
          Instant expiresAt) {}

  /**
   * Makes a link.
   *
   * @param assignee in whose name it decides; null: nobody's
   * @throws Problem not_found; conflict: the approval is not pending
   */
  Link make(String id, String assignee, Duration lifetime) {
    Approval approval = approvals.find(id);
    String token = Secrets.next();
    Sql.Bound make =
        MAKE.with("hash", Text.sha256(token))
            .with("id", id)
            .with("assignee", assignee)
            .with("expires", clock.instant().plus(lifetime));
    Instant expiresAt =
        database
            .once(connection -> make.first(connection, row -> Sql.instant(row, "expires_at")))
            .orElseThrow(
                () ->
                    Problem.of(
                        ErrorCode.CONFLICT,
                        "The approval is %s already.".formatted(approval.state().code())));
    // Browsers don't send the fragment: the token is in no log of a proxy.
    return new Link(publicUrl.orElse("") + "/approve#token=" + token, expiresAt);
  }

  /**
   * What a link is for.
   *
   * @param assignee or null
   */
  record Target(String approvalId, String assignee) {}

  /**
   * @throws Problem not_found: there is no such link, or it has ended
   */
  Target find(String token) {
    Sql.Bound find = FIND.with("hash", Text.sha256(token)).with("now", clock.instant());
    return database
        .once(
            connection ->
                find.first(
                    connection,
                    row -> new Target(row.getString("approval_id"), row.getString("assignee"))))
        .orElseThrow(
            () ->
                Problem.of(
                    ErrorCode.NOT_FOUND,
                    "The link has ended, or is incomplete. Ask for another one, or decide in the dashboard."));
  }
}

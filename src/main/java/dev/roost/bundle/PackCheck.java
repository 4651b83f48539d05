package dev.roost.bundle;

import dev.roost.api.Problem;
import dev.roost.api.Problem.FieldError;
import dev.roost.api.Text;
import dev.roost.bundle.BundleComposition.Content;
import dev.roost.file.FileState;
import dev.roost.file.Files;
import dev.roost.file.StoredFile;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Compares a pack with what it must have, one part in memory at a time. */
final class PackCheck {
  private final Files files;

  PackCheck(Files files) {
    this.files = files;
  }

  /**
   * @param pack its file; null: none was sent
   * @throws Problem validation_failed, unavailable
   */
  void check(String pack, BundleComposition composition) {
    long size = composition.packBytes();
    if (pack == null) {
      if (size > 0) {
        throw Problem.invalid(
            "/pack",
            "required",
            "pack is required: a file with %,d bytes that the base does not have.".formatted(size));
      }
      return;
    }
    if (size == 0) {
      throw Problem.invalid(
          "/pack", "contradiction", "pack must be null: no entry needs bytes of a pack.");
    }
    StoredFile file =
        files
            .findIfAny(pack)
            .filter(found -> found.state() == FileState.STORED)
            .orElseThrow(() -> unknown(pack));
    if (file.sizeBytes() != size) {
      throw Problem.invalid(
          "/pack",
          "wrong_size",
          "The pack has %,d bytes; the entries need %,d.".formatted(file.sizeBytes(), size));
    }
    List<FieldError> errors = wrongDigests(file, composition.contents());
    if (!errors.isEmpty()) {
      throw Problem.invalid(errors);
    }
  }

  private List<FieldError> wrongDigests(StoredFile pack, List<Content> contents) {
    List<FieldError> errors = new ArrayList<>();
    MessageDigest digest = Text.sha256();
    int number = 0;
    long missing = contents.get(0).sizeBytes();
    for (int part = 0; part < pack.parts(); part++) {
      byte[] bytes = files.part(pack, part).orElseThrow(() -> unknown(pack.id()));
      int at = 0;
      while (at < bytes.length) {
        int length = (int) Math.min(missing, bytes.length - at);
        digest.update(bytes, at, length);
        at += length;
        missing -= length;
        if (missing == 0) {
          Content content = contents.get(number);
          // The digest begins anew.
          if (!HexFormat.of().formatHex(digest.digest()).equals(content.sha256())
              && errors.size() < BundleComposition.MOST_ERRORS) {
            errors.add(BundleComposition.wrongDigest(content.entry()));
          }
          number++;
          missing = number < contents.size() ? contents.get(number).sizeBytes() : 0;
        }
      }
    }
    return errors;
  }

  static Problem unknown(String pack) {
    return Problem.invalid(
        "/pack", "not_a_choice", "There is no complete file " + Text.quote(pack) + ".");
  }
}

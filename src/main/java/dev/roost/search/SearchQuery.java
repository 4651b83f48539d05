package dev.roost.search;

import dev.roost.api.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What a person looks for: all of these terms, in any order.
 *
 * @param terms at least one
 */
record SearchQuery(List<Term> terms) {
  private static final int MAX_CHARACTERS = 200;
  private static final int MAX_WORDS = 16;

  /** Shorter beginnings would be those of a large part of the index. */
  private static final int SHORTEST_PREFIX = 3;

  /** How often a term is marked in one text. */
  private static final int MOST_MARKS = 50;

  /**
   * A word, or words that follow each other.
   *
   * @param words folded
   * @param literal folded text that is exactly in the text, with what separates the words; or null
   * @param isPrefix whether the last word may go on
   */
  record Term(List<String> words, String literal, boolean isPrefix) {}

  /** The part of a text that a term matches. */
  record Mark(int start, int end) {}

  /**
   * @throws Problem validation_failed
   */
  static SearchQuery parse(String given) {
    if (given == null || given.isBlank()) {
      throw bad("required", "q must have at least one word, for example ?q=timeout.");
    }
    if (given.length() > MAX_CHARACTERS) {
      throw bad("too_long", "q can have up to " + MAX_CHARACTERS + " characters.");
    }
    String folded = Words.fold(given);
    List<Term> terms = new ArrayList<>();
    for (int i = 0; i < folded.length(); ) {
      char c = folded.charAt(i);
      if (Character.isWhitespace(c)) {
        i++;
      } else if (c == '"') {
        int end = folded.indexOf('"', i + 1);
        if (end < 0) {
          throw bad(
              "unclosed_quote", "q has a quotation mark without a second one: add or remove one.");
        }
        addPhrase(folded.substring(i + 1, end), terms);
        i = end + 1;
      } else {
        int end = i;
        while (end < folded.length()
            && folded.charAt(end) != '"'
            && !Character.isWhitespace(folded.charAt(end))) {
          end++;
        }
        addWord(folded.substring(i, end), folded.substring(end).isBlank(), terms);
        i = end;
      }
    }
    int words = terms.stream().mapToInt(term -> term.words().size()).sum();
    if (words == 0) {
      throw bad(
          "no_words", "q must contain letters or digits: other characters only separate words.");
    }
    if (words > MAX_WORDS) {
      throw bad("too_many_words", "q can have up to " + MAX_WORDS + " words.");
    }
    return new SearchQuery(List.copyOf(terms));
  }

  private static void addPhrase(String phrase, List<Term> terms) {
    boolean star = phrase.endsWith("*");
    List<String> words = Words.of(phrase);
    if (!words.isEmpty()) {
      terms.add(new Term(words, null, star && checkedPrefix(words)));
    }
  }

  private static void addWord(String given, boolean isLast, List<Term> terms) {
    boolean star = given.endsWith("*");
    String text = star ? given.replaceAll("\\*+$", "") : given;
    List<String> words = Words.of(text);
    if (words.isEmpty()) {
      return;
    }
    boolean endsWithWord = Words.isPart(text.codePointBefore(text.length()));
    boolean isPrefix =
        star
            ? checkedPrefix(words)
            : isLast && endsWithWord && lastLength(words) >= SHORTEST_PREFIX;
    boolean plain = words.size() == 1 && words.get(0).length() == text.length();
    terms.add(new Term(words, plain ? null : text, isPrefix));
  }

  private static boolean checkedPrefix(List<String> words) {
    if (lastLength(words) < SHORTEST_PREFIX) {
      throw bad(
          "short_prefix",
          "q must have at least " + SHORTEST_PREFIX + " letters or digits before *.");
    }
    return true;
  }

  private static int lastLength(List<String> words) {
    return words.get(words.size() - 1).length();
  }

  private static Problem bad(String code, String detail) {
    return Problem.invalid("?q", code, detail);
  }

  /** The condition for a chunk, as a tsquery. */
  String condition() {
    return terms.stream()
        .flatMap(
            term -> {
              List<String> lexemes = new ArrayList<>();
              for (int i = 0; i < term.words().size(); i++) {
                boolean open = term.isPrefix() && i == term.words().size() - 1;
                lexemes.add(quoted(Words.indexed(term.words().get(i))) + (open ? ":*" : ""));
              }
              return lexemes.stream();
            })
        .distinct()
        .collect(Collectors.joining(" & "));
  }

  /** A lexeme of a tsquery. */
  static String quoted(String lexeme) {
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'";
  }

  /**
   * Patterns for {@code like}, all of which the folded text of a match has: the database excludes
   * most lines by them. Only ASCII, of which PostgreSQL's lower case is the same everywhere.
   */
  String[] patterns() {
    return terms.stream()
        .flatMap(
            term ->
                term.literal() == null ? term.words().stream() : List.of(term.literal()).stream())
        .filter(text -> text.chars().allMatch(c -> c < 128))
        .map(text -> "%" + text.replaceAll("([\\\\%_])", "\\\\$1") + "%")
        .distinct()
        .toArray(String[]::new);
  }

  /** The marks of all terms, sorted and without overlaps; empty: the text doesn't match. */
  List<Mark> marks(String text) {
    String folded = Words.fold(text);
    for (Term term : terms) {
      for (String word : term.words()) {
        if (!folded.contains(word)) {
          return List.of();
        }
      }
    }
    Words.Places places = Words.places(folded);
    List<Mark> marks = new ArrayList<>();
    for (Term term : terms) {
      int before = marks.size();
      addMarks(term, folded, places, marks);
      if (marks.size() == before) {
        return List.of();
      }
    }
    marks.sort((a, b) -> a.start() != b.start() ? a.start() - b.start() : b.end() - a.end());
    List<Mark> merged = new ArrayList<>();
    for (Mark mark : marks) {
      Mark last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
      if (last != null && mark.start() < last.end()) {
        merged.set(merged.size() - 1, new Mark(last.start(), Math.max(last.end(), mark.end())));
      } else {
        merged.add(mark);
      }
    }
    return merged;
  }

  private static void addMarks(Term term, String folded, Words.Places places, List<Mark> marks) {
    int count = term.words().size();
    int found = 0;
    for (int at = 0; at + count <= places.count() && found < MOST_MARKS; at++) {
      Mark mark = match(term, folded, places, at);
      if (mark != null) {
        marks.add(mark);
        found++;
      }
    }
  }

  /** The term at a word of the text, or null. */
  private static Mark match(Term term, String folded, Words.Places places, int at) {
    int last = term.words().size() - 1;
    for (int i = 0; i <= last; i++) {
      String word = term.words().get(i);
      int start = places.start(at + i);
      int length = places.end(at + i) - start;
      boolean fits =
          i == last && term.isPrefix() ? length >= word.length() : length == word.length();
      if (!fits || !folded.startsWith(word, start)) {
        return null;
      }
    }
    int start = places.start(at);
    int end = places.start(at + last) + term.words().get(last).length();
    if (term.literal() == null) {
      return new Mark(start, end);
    }
    int lead = term.literal().indexOf(term.words().get(0));
    int from = start - lead;
    return from >= 0 && folded.startsWith(term.literal(), from)
        ? new Mark(from, from + term.literal().length())
        : null;
  }
}

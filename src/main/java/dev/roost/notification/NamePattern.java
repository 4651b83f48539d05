package dev.roost.notification;

/** A name in which {@code *} stands for any characters, also none. */
final class NamePattern {
  private NamePattern() {}

  /**
   * Compares from left to right and remembers only the last star, so the time is at most the
   * product of both lengths.
   */
  static boolean matches(String pattern, String name) {
    int p = 0;
    int star = -1;
    int resume = 0;
    for (int n = 0; n < name.length(); ) {
      if (p < pattern.length() && pattern.charAt(p) == '*') {
        star = p++;
        resume = n;
      } else if (p < pattern.length() && pattern.charAt(p) == name.charAt(n)) {
        p++;
        n++;
      } else if (star >= 0) {
        p = star + 1;
        n = ++resume;
      } else {
        return false;
      }
    }
    while (p < pattern.length() && pattern.charAt(p) == '*') {
      p++;
    }
    return p == pattern.length();
  }
}

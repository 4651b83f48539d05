package dev.roost.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteRangeTest {
  @ParameterizedTest
  @CsvSource({
    "bytes=0-0, 0, 0",
    "bytes=2-4, 2, 4",
    "bytes=2-, 2, 9",
    "bytes=2-99, 2, 9",
    "bytes=-3, 7, 9",
    "bytes=-99, 0, 9",
    "bytes=9-9, 9, 9",
  })
  void aRangeIsCutAtTheEndOfTheFile(String header, long first, long last) throws Exception {
    assertEquals(Optional.of(new ByteRange(first, last)), ByteRange.parse(header, 10));
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(
      strings = {
        "",
        "bytes=",
        "bytes=-",
        "bytes=a-b",
        "bytes=4-2",
        "bytes=0-1,3-4",
        "lines=1-2",
        "bytes=1-99999999999999999999"
      })
  void whatIsNoRangeIsTheWholeFile(String header) throws Exception {
    assertEquals(Optional.empty(), ByteRange.parse(header, 10));
  }

  @Test
  void bytesBeyondTheEndAreRefused() {
    assertThrows(ByteRange.Unsatisfiable.class, () -> ByteRange.parse("bytes=10-", 10));
    assertThrows(ByteRange.Unsatisfiable.class, () -> ByteRange.parse("bytes=-0", 10));
    assertThrows(ByteRange.Unsatisfiable.class, () -> ByteRange.parse("bytes=0-", 0));
  }
}

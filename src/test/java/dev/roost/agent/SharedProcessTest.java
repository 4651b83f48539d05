package dev.roost.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SharedProcessTest {
  @ParameterizedTest
  @CsvSource({
    "'def main(): pass', true",
    "'import os\ndef  main(request):\n  pass', true",
    "'async def main(): pass', false",
    "'async  def\tmain(): pass', false",
    "'def mainly(): pass\nasync def main(): pass', false",
    // Which of two definitions counts is known when the script runs.
    "'def main(): pass\nasync def main(): pass', false",
    "'class A:\n  def main(self): pass', false",
    "'from agents import main', false",
    "'', false"
  })
  void aMainThatIsPlainlyNotAsyncIsRecognized(String script, boolean isPlain) {
    assertEquals(isPlain, SharedProcess.isPlain(script));
  }
}

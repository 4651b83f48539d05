/** Texts of what all pages use: problems without an answer of the API, times and sizes. */
export const text = {
  unreachable: "Roost can't be reached",
  isItRunning: "Roost can't be reached. Is it running?",
  returnedStatus: (status: number) => `Roost returned status ${status}.`,
  notLoaded: "A part of the page can't be loaded",
  reload: "Roost can't be reached, or was upgraded. Reload the page.",
  pageFailed: "The page failed",
  pageFailedWith: (problem: string) => `The page failed: ${problem}`,
  jsonRequired: "A JSON value is required, for example null or {}.",
  fileNotReadable: "The file can’t be read",
  fileChanged: "The file can’t be read: it is a folder, or was changed or moved. Remove it and add it again.",
  allStates: "All states",
  now: "now",
  milliseconds: (figures: string) => `${figures} ms`,
  seconds: (figures: string) => `${figures} s`,
  minutes: (minutes: number, seconds: number) => `${minutes} min ${seconds} s`,
  hours: (hours: number, minutes: number) => `${hours} h ${minutes} min`,
};

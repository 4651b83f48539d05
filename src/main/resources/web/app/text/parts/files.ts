import { html } from "lit";
import { bytes, count, plural } from "../../core/format";

/** Texts about the files of jobs. */
export const text = {
  list: {
    title: "Files",
    kinds: { input: "input", artifact: "artifact", payload: "payload", return_value: "return value" },
    kindTitles: {
      input: "Submitted with the payload",
      artifact: "Stored by the script",
      payload: "The whole payload, as JSON",
      return_value: "The whole return value, as JSON",
    },
    uploading: "Uploading",
    download: "Download",
    downloadFile: (name: string) => `Download ${name}`,
    copyLink: "Copy link",
    copyLinkTo: (name: string) => `Copy link to ${name}`,
    copyLinkTitle: "Whoever has the link can download the file for 24 hours, without a key",
    copied: "Link copied. It downloads the file for 24 hours, without a key.",
    show: "Show",
    showFile: (name: string) => `Show ${name}`,
    hide: "Hide",
    hideFile: (name: string) => `Hide ${name}`,
  },
  /** The files of an agent's project. */
  project: {
    title: "Files",
    size: (files: readonly { size_bytes: number }[]) =>
      `${plural(files.length, "file")}, ${bytes(files.reduce((sum, file) => sum + file.size_bytes, 0))}`,
    count: (files: number) => plural(files, "file"),
    search: "Search files",
    noMatches: "No file’s path contains that.",
    firstOf: (shown: number, all: number) => `The first ${count(shown)} of ${plural(all, "file")}.`,
    script: "the script",
    show: (path: string) => `Show ${path}`,
    hint: html`Files of the project, as <code>roost deploy</code> sent them. The script can be changed here,
      all others by deploying the project again.`,
    added: "added",
    removed: "removed",
    changed: "changed",
    notCompared: "The file is no text, or too large to compare here.",
  },
  preview: {
    of: (name: string) => `Content of ${name}`,
    empty: "The file is empty.",
    notText: "The file is not text. Download it to open it.",
    noImage: "The browser can’t show this image. Download it to open it.",
    tooLarge: (limit: number) => `The file is too large to show: the limit is ${bytes(limit)}. Download it.`,
    beginning: (shown: number, size: number) => `The first ${bytes(shown)} of ${bytes(size)}.`,
    rows: (shown: number) => `${plural(shown, "row")}.`,
    firstRows: (shown: number) => `The first ${plural(shown, "row")}.`,
    firstOf: (shown: number, all: number) => `The first ${count(shown)} of ${plural(all, "row")}.`,
    columns: (shown: number, all: number) => `The first ${count(shown)} of ${plural(all, "column")}.`,
    noColumns: "The file has no columns.",
    rowsTooLarge: (limit: number) =>
      `The rows are too large to show: the limit is ${bytes(limit)}. Download the file.`,
    null: "null",
    noParquet: "This Roost can’t show Parquet files: it was packaged without the reader. Download the file.",
    notLoaded: "The reader of Parquet files can’t be loaded. Try again, or download the file.",
    notParquet: "The file is not a valid Parquet file. Download it to examine it.",
    beyondEnd: "it refers to bytes beyond its end",
    tooManyBytes: (limit: number) => `they take more than ${bytes(limit)}`,
    pageTooLarge: "a page is too large",
    codec: (codec: string) =>
      `The rows are compressed with ${codec}, which can’t be shown. Download the file.`,
    notRead: (why: string) => `The rows can’t be shown: ${why}. Download the file.`,
  },
  /** Types of columns. */
  types: {
    timestampUtc: "timestamp UTC",
    listOf: (type: string) => `list of ${type}`,
  },
  upload: {
    title: "Files",
    add: "Add files",
    hint: html`The script opens a file by its name: <code>request.files["report.csv"]</code> is its path.`,
    name: (file: string) => `Name of ${file}`,
    remove: (name: string) => `Remove ${name}`,
    progress: (name: string) => `Upload of ${name}`,
    of: (sent: number, size: number) => `${bytes(sent)} of ${bytes(size)}`,
    nameRequired: "A name is required.",
    nameTwice: "Another file has this name.",
  },
};

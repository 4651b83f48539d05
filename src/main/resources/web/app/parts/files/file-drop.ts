import type { ReactiveController, ReactiveControllerHost } from "lit";

/** Files that are dropped on an element; its class is "dropping" while they are above it. */
export class FileDrop implements ReactiveController {
  /** @param take is called with the files, unless `may` is false */
  constructor(
    private readonly host: ReactiveControllerHost & HTMLElement,
    private readonly may: () => boolean,
    private readonly take: (files: FileList) => void,
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    // Before an editor within the element, which would insert the content of the files.
    this.host.addEventListener("dragover", this.over, true);
    this.host.addEventListener("dragleave", this.leave);
    this.host.addEventListener("drop", this.drop, true);
  }

  hostDisconnected(): void {
    this.host.removeEventListener("dragover", this.over, true);
    this.host.removeEventListener("dragleave", this.leave);
    this.host.removeEventListener("drop", this.drop, true);
  }

  private readonly over = (event: DragEvent): void => {
    if (this.concerns(event)) {
      this.host.classList.add("dropping");
    }
  };

  private readonly leave = (event: DragEvent): void => {
    if (!this.host.contains(event.relatedTarget as Node | null)) {
      this.host.classList.remove("dropping");
    }
  };

  private readonly drop = (event: DragEvent): void => {
    if (this.concerns(event)) {
      this.host.classList.remove("dropping");
      this.take(event.dataTransfer!.files);
    }
  };

  private concerns(event: DragEvent): boolean {
    const items = [...(event.dataTransfer?.items ?? [])];
    if (!this.may() || !items.some(({ kind }) => kind === "file")) {
      return false;
    }
    event.preventDefault();
    event.stopPropagation();
    return true;
  }
}

import {
  RangeSetBuilder,
  StateEffect,
  StateField,
  type Extension,
  type Text,
  type Transaction,
} from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";
import { MASK } from "../../core/variables";
import { text } from "../../text/parts/code";

/** Shows the value at a position. */
const reveal = StateEffect.define<number>();
const hideAll = StateEffect.define<null>();

class Mask extends WidgetType {
  override eq(): boolean {
    return true;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement("span");
    element.className = "cm-masked";
    element.textContent = MASK;
    element.title = text.editor.showValue;
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", text.editor.hiddenValue);
    return element;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

const mask = Decoration.replace({ widget: new Mask() });

function masksOf(doc: Text): DecorationSet {
  const masks = new RangeSetBuilder<Decoration>();
  for (let number = 1; number <= doc.lines; number++) {
    const { from, to, text } = doc.line(number);
    const value = from + text.indexOf("=") + 1;
    if (value > from && value < to) {
      masks.add(value, to, mask);
    }
  }
  return masks.finish();
}

/**
 * Shows the values of KEY=VALUE lines as dots; they aren't in the document. A click shows one value, and what a
 * person types is shown, both until the editor loses the focus. Copying copies the values.
 *
 * @param isFromPage whether a transaction comes from the page, not from a person
 */
export const maskedValues = (isFromPage: (transaction: Transaction) => boolean): Extension => {
  const masks = StateField.define<DecorationSet>({
    create: (state) => masksOf(state.doc),
    update(found, transaction) {
      if (isFromPage(transaction) || transaction.effects.some((effect) => effect.is(hideAll))) {
        return masksOf(transaction.state.doc);
      }
      const revealed = transaction.effects.filter((effect) => effect.is(reveal)).map(({ value }) => value);
      return found.map(transaction.changes).update({ filter: (from) => !revealed.includes(from) });
    },
    provide: (field) => [
      EditorView.decorations.from(field),
      EditorView.atomicRanges.of((view) => view.state.field(field)),
    ],
  });
  return [
    masks,
    EditorView.domEventHandlers({
      mousedown: (event, view) => {
        const element = (event.target as HTMLElement).closest(".cm-masked");
        if (element) {
          view.dispatch({ effects: reveal.of(view.posAtDOM(element)) });
        }
      },
      blur: (_event, view) => view.dispatch({ effects: hideAll.of(null) }),
    }),
  ];
};

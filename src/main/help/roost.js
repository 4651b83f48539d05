// What the theme's script adds to pages, for those who use a keyboard or a screen reader: wide tables that scroll can
// be focused, and the buttons of each code block have a name of their own.
const improve = () => {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    table.tabIndex = 0;
  }
  for (const [i, buttons] of document.querySelectorAll(".md-code__nav").entries()) {
    buttons.setAttribute("aria-label", `Code block ${i + 1}`);
  }
};
new MutationObserver(improve).observe(document.documentElement, { childList: true, subtree: true });

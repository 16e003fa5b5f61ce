// @ts-check
// Explanations: each heading of a table has that of its term below.

/**
 * Returns the meaning of a heading: that of its whole text, or of its text without the unit.
 * @template T
 * @param {Map<string, T>} terms
 * @param {string} heading
 */
const termOf = (terms, heading) => terms.get(heading) || terms.get(heading.replace(/ \[[^\]]*\]$/, ""));

function explainHeadings() {
  const terms = new Map([...document.querySelectorAll("#terms dt")].map((term) => [term.textContent || "", term.nextElementSibling]));
  document.querySelectorAll("main th").forEach((heading) => {
    const term = termOf(terms, heading.textContent || "");
    if (!term) return;
    heading.setAttribute("title", term.textContent || "");
    heading.setAttribute("aria-describedby", term.id);
  });
}

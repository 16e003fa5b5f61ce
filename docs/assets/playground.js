// Links from the examples of the book to the playground.
"use strict";

/** Returns the commands and the scenario of a block that need no files. */
function runnable(block) {
  const isFile = /\.(toml|csv|xml|json|yaml|goal|prog|comp|comm)\b|\b(execution|traces?\/)/;
  const isWhole = /^(topology\s*=|\[topology\.)/m.test(block) && /^(workload\s*=|\[workload\.|\[\[job\]\])/m.test(block);
  if (isWhole) return isFile.test(block) || /^\[grid\]/m.test(block) ? [] : [block.trim()];
  const lines = block.replace(/\\\n\s*/g, "").split("\n").map((line) => line.replace(/\s+#\s.*$/, "").trim());
  const commands = lines.filter((line) => /^hayase (run |compare |replay [\w-]+:)/.test(line) && !/ --op\b|\[/.test(line.replace(/"[^"]*"/g, "")));
  // Output files are not needed.
  return commands.filter((line) => !isFile.test(line.replace(/ -o \S+/g, "")));
}

if (typeof document === "undefined") {
  module.exports = { runnable };
} else {
  const playground = new URL("playground.html", document.currentScript.src).href;
  for (const code of document.querySelectorAll("pre > code")) {
    const found = runnable(code.textContent);
    if (!found.length) continue;
    const row = document.createElement("p");
    row.className = "playground-links";
    row.append("Open in the playground: ");
    found.forEach((text, index) => {
      const link = document.createElement("a");
      link.href = `${playground}#t=${encodeURIComponent(text)}`;
      link.target = "_blank";
      link.textContent = text.startsWith("hayase") ? text.slice(7).replace(/ -o \S+/g, "") : "scenario";
      row.append(index ? " · " : "", link);
    });
    (code.closest(".highlight") || code.parentElement).after(row);
  }
}

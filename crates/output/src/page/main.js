// @ts-check

if (typeof document !== "undefined") {
  const block = document.getElementById("data");
  /** @type {PageData | null} */
  const data = block ? JSON.parse(block.textContent || "null") : null;
  explainHeadings();
  document.querySelectorAll("table").forEach((table) => enliven(table));
  document.querySelectorAll("figure").forEach((figure) => enlarge(/** @type {HTMLElement} */ (figure)));
  if (data?.links?.rows.length) showFabric(data, data.links);
  if (data?.points) showPoints(data.points);
  if (data?.timeline) showTimeline(data, data.timeline);
  document.documentElement.dataset.ready = "";
}

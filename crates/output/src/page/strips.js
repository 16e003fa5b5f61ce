// @ts-check
// Strips and maps of large fabrics: frames in which each column, or each column of a row, is a link.

/** Largest number of columns of a strip; more links share them: the busiest above, the mean below. */
const BINS = 260;

/**
 * Frame with the ids of its links row by row from below; -1 for none.
 * @typedef {{rect: SVGRectElement, ids: number[], columns: number, image?: SVGElement}} Frame
 */

/** Returns the load of a letter as a part of the largest one. @param {string | undefined} letter */
const levelOf = (letter) => Math.max(0, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-".indexOf(letter || "A")) / 63;

/** Returns the frames of a picture. @param {SVGSVGElement | null | undefined} drawing @returns {Frame[]} */
function framesOf(drawing) {
  return [.../** @type {NodeListOf<SVGRectElement>} */ (drawing?.querySelectorAll("rect[data-links]") || [])].map((rect) => {
    const ids = (rect.dataset.links || "").split(";").flatMap((part) => {
      const [first, step, count] = part.split(",").map(Number);
      return Array.from({ length: count }, (_, i) => first + step * i);
    });
    return { rect, ids, columns: Number(rect.dataset.columns) };
  });
}

/** Returns the links of a column of a strip. @param {Frame} frame @param {number} bin @param {number} bins */
const ofBin = ({ ids }, bin, bins) => ids.slice(Math.floor((bin * ids.length) / bins), Math.floor(((bin + 1) * ids.length) / bins));

/**
 * Returns the link with the largest load where a frame was clicked; -1 for none.
 * @param {Frame} frame
 * @param {MouseEvent} event
 * @param {(id: number) => number} load
 */
function busiestAt(frame, event, load) {
  const { rect, ids, columns } = frame, box = rect.getBoundingClientRect(), rows = ids.length / columns;
  const place = (/** @type {number} */ part, /** @type {number} */ of) => Math.max(0, Math.min(of - 1, Math.floor(part * of)));
  const across = (event.clientX - box.left) / box.width, bins = Math.min(columns, BINS);
  if (rows === 1) return ofBin(frame, place(across, bins), bins).reduce((a, b) => (a >= 0 && load(a) >= load(b) ? a : b), -1);
  return ids[place((box.bottom - event.clientY) / box.height, rows) * columns + place(across, columns)];
}

/**
 * Paints the loads of an interval over a frame; without colours the mean of the run appears again.
 * @param {Frame} frame
 * @param {((load: number) => string) | null} colour
 * @param {(id: number) => number} load
 */
function paintFrame(frame, colour, load) {
  frame.image?.remove();
  if (!colour) return;
  const { rect, ids, columns } = frame, isStrip = ids.length === columns, bins = Math.min(columns, BINS);
  const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
  [canvas.width, canvas.height] = isStrip ? [bins, columns > BINS ? 2 : 1] : [columns, ids.length / columns];
  const dot = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ value) => {
    if (!context) return;
    context.fillStyle = colour(value);
    context.fillRect(x, y, 1, 1);
  };
  if (isStrip) {
    for (let bin = 0; bin < bins; bin++) {
      const loads = ofBin(frame, bin, bins).map(load);
      dot(bin, 0, Math.max(...loads));
      dot(bin, 1, loads.reduce((a, b) => a + b, 0) / loads.length);
    }
  } else ids.forEach((id, i) => id >= 0 && dot(i % columns, canvas.height - 1 - Math.floor(i / columns), load(id)));
  const at = Object.fromEntries(["x", "y", "width", "height"].map((name) => [name, rect.getAttribute(name) || 0]));
  frame.image = drawn("image", { ...at, href: canvas.toDataURL(), preserveAspectRatio: "none", style: "image-rendering:pixelated" });
  rect.before(frame.image);
}

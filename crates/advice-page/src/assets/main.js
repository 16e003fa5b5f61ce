// Assembles the page.

const TABS = { timeline: ["Timeline", () => {}], events: ["Events", drawEvents], hot: ["Hot spots", drawHot], traffic: ["Communication", drawTraffic], use: ["Processor use", drawUse] };

function setUpHeader() {
  $("program").textContent = data.program || "program without a name";
  $("run-is").textContent = data.runIs;
  const facts = [["ranks", count(data.ranks)], ["time", time(data.end, 4)], ["events", count(data.events)], ["messages", count(data.messages)], ["bytes", bytes(data.bytes)], ...data.facts.filter(([name]) => name !== "ranks")];
  $("facts").append(...facts.map(([name, value]) => el("div", { title: `${name}: ${value}` }, el("dt", {}, name), el("dd", {}, value))));
  const select = $("rank");
  select.append(el("option", { value: -1 }, "all"), ...Array.from({ length: ranks.length }, (_, rank) => el("option", { value: rank }, `${rank}`)));
  select.addEventListener("change", () => choose({ rank: Number(select.value), ...state.pick ? { pick: null } : {} }));
  onChange(changes => { if ("rank" in changes) select.value = state.rank; });
}

function setUpTabs() {
  const names = Object.keys(TABS);
  $("tabs").append(...names.map(name => el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `view-${name}`, onclick: () => choose({ tab: name }) }, TABS[name][0])));
  $("tabs").addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    choose({ tab: names[(names.indexOf(state.tab) + step + names.length) % names.length] });
    $(`tab-${state.tab}`).focus();
  });
  const show = () => {
    for (const name of names) {
      $(`view-${name}`).hidden = name !== state.tab;
      $(`tab-${name}`).setAttribute("aria-selected", name === state.tab);
      $(`tab-${name}`).tabIndex = name === state.tab ? 0 : -1;
    }
  };
  onChange(changes => {
    if ("tab" in changes) show();
    // A picked call only moves the highlight in the same list.
    if (state.tab === "events" && Object.keys(changes).join() === "pick") return $("view-events").redrawRows();
    if ("tab" in changes || "rank" in changes || "lit" in changes || "finding" in changes) TABS[state.tab][1]();
  });
  show();
}

function setUpSplitter() {
  const splitter = $("splitter"), main = document.querySelector("main");
  const move = share => {
    share = Math.max(0.15, Math.min(0.85, share));
    main.style.setProperty("--split", `${share * 100}fr`);
    main.style.setProperty("--rest", `${100 - share * 100}fr`);
    splitter.setAttribute("aria-valuenow", Math.round(share * 100));
  };
  const share = () => $("upper").offsetHeight / ($("upper").offsetHeight + $("lower").offsetHeight);
  splitter.addEventListener("pointerdown", event => splitter.setPointerCapture(event.pointerId));
  splitter.addEventListener("pointermove", event => {
    if (event.buttons) move((event.clientY - main.getBoundingClientRect().top) / main.clientHeight);
  });
  splitter.addEventListener("keydown", event => {
    const step = { ArrowUp: -0.05, ArrowDown: 0.05 }[event.key];
    if (step) { event.preventDefault(); move(share() + step); }
  });
  splitter.setAttribute("aria-valuenow", 52);
}

setUpHeader();
setUpAdvice();
setUpSource();
setUpTabs();
setUpSplitter();
timeline.setUp();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => TABS[state.tab][1]());
document.addEventListener("keydown", event => { if (event.key === "Escape") chooseFinding(-1); });
if (data.findings.length) chooseFinding(0);
document.documentElement.dataset.ready = "true";

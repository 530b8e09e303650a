"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const steps = [...document.querySelectorAll(".step")];
  const plans = [...document.querySelectorAll(".plan")];
  const filters = [...document.querySelectorAll(".filters button")];
  const query = byId("query");
  const order = byId("order");
  const expand = byId("expand");
  const words = new Map(steps.map((step) => [step, step.textContent.toLowerCase()]));
  const place = new Map(steps.map((step, index) => [step, index]));
  // Opened because the match lies inside; closed again with the search.
  const opened = new Set();
  let wanted = "all";

  const shown = () => [...document.querySelectorAll(".step")].filter((step) => !step.hidden);

  // Marks matches without touching the document, where the browser can.
  function highlight(terms) {
    if (!window.Highlight || !CSS.highlights) return;
    CSS.highlights.delete("found");
    if (!terms.length) return;
    const marks = new Highlight();
    for (const step of shown()) {
      const walker = document.createTreeWalker(step, NodeFilter.SHOW_TEXT);
      while (walker.nextNode() && marks.size < 2000) {
        const node = walker.currentNode;
        const text = node.data.toLowerCase();
        // Lower case may be longer than the text itself: positions would be wrong.
        if (text.length !== node.data.length) continue;
        for (const term of terms) {
          for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + term.length)) {
            const range = new Range();
            range.setStart(node, at);
            range.setEnd(node, at + term.length);
            marks.add(range);
          }
        }
      }
    }
    CSS.highlights.set("found", marks);
  }

  // A long line of the plan is scrolled to its caret.
  function showCarets(step) {
    for (const source of step.querySelectorAll(".source")) {
      const caret = source.querySelector(".caret");
      source.scrollLeft = Math.max(0, caret.offsetLeft - source.offsetLeft - source.clientWidth * 0.7);
    }
  }

  function tellExpand() {
    expand.textContent = shown().some((step) => !step.open) ? "Expand all" : "Collapse all";
  }

  function apply() {
    const terms = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const step of steps) {
      const text = words.get(step);
      step.hidden = !((wanted === "all" || step.dataset.status === wanted) && terms.every((term) => text.includes(term)));
      const summary = step.firstElementChild.textContent.toLowerCase();
      const inside = !step.hidden && terms.some((term) => !summary.includes(term));
      if (inside && !step.open) {
        step.open = true;
        opened.add(step);
      } else if (!inside && opened.delete(step)) {
        step.open = false;
      }
    }
    for (const plan of plans) plan.hidden = !plan.querySelector(".step:not([hidden])");
    const count = shown().length;
    byId("count").textContent = count + " of " + steps.length + (steps.length === 1 ? " step" : " steps");
    byId("none").hidden = count > 0 || steps.length === 0;
    highlight(terms);
    tellExpand();
  }

  function sort() {
    const slow = order.value === "slow";
    const rank = (a, b) => (slow ? b.dataset.ms - a.dataset.ms : 0) || place.get(a) - place.get(b);
    for (const plan of plans) {
      plan.querySelector(".steps").append(...[...plan.querySelectorAll(".step")].sort(rank));
    }
  }

  function filter(status) {
    wanted = status;
    for (const button of filters) button.setAttribute("aria-pressed", String(button.dataset.status === status));
    apply();
  }

  function follow() {
    const step = steps.find((step) => "#" + step.id === location.hash);
    if (!step) return;
    step.open = true;
    step.firstElementChild.focus();
    step.scrollIntoView({ block: "center" });
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = document.activeElement;
    const typing = at && (at.tagName === "INPUT" || at.tagName === "SELECT");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      query.focus();
      query.select();
    } else if (event.key === "Escape" && at === query) {
      query.value = "";
      apply();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (at === query || (at && at.matches(".step > summary")))) {
      const summaries = shown().map((step) => step.firstElementChild);
      const next = summaries.indexOf(at) + (event.key === "ArrowDown" ? 1 : -1);
      event.preventDefault();
      if (next >= 0 && next < summaries.length) summaries[next].focus();
      else if (next < 0) query.focus();
    }
  }

  query.addEventListener("input", apply);
  order.addEventListener("change", sort);
  for (const button of filters) button.addEventListener("click", () => filter(button.dataset.status));
  for (const step of steps) {
    step.addEventListener("toggle", () => {
      tellExpand();
      if (step.open) showCarets(step);
    });
  }
  expand.addEventListener("click", () => {
    const open = shown().some((step) => !step.open);
    for (const step of shown()) step.open = open;
    opened.clear();
    tellExpand();
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", follow);
  window.addEventListener("resize", () => steps.forEach(showCarets));
  document.querySelector(".tools").hidden = false;
  apply();
  steps.forEach(showCarets);
  follow();
})();

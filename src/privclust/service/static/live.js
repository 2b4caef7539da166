// The live cost: asks for the plan of what the form holds, a moment after the last key.
"use strict";
(() => {
  const form = document.querySelector("form[data-plan]");
  const output = document.getElementById("live");
  if (!form || !output) return;
  const fields = ["epsilon", "delta", "clusters", "columns"];
  let timer = 0;
  let newest = 0;
  let pause = 1000;

  const show = (lines, refused) => {
    output.replaceChildren(...lines.map((line) => {
      const part = document.createElement("p");
      part.textContent = line;
      return part;
    }));
    output.classList.toggle("refused", refused);
  };

  const ask = async () => {
    const number = ++newest;
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (fields.includes(name) || /^(option|columns)-/.test(name)) query.append(name, value);
    }
    output.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(`${form.dataset.plan}?${query}`, {
        credentials: "same-origin",
        headers: { Accept: "application/json" },
      });
      if (number !== newest) return;
      if (!answer.headers.get("content-type").startsWith("application/json")) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const sentence = page.querySelector("[data-message]");
        show([sentence ? sentence.textContent : "The plan cannot be made; check the numbers."], true);
        return;
      }
      const plan = await answer.json();
      const cost = `Cost: ${plan.cost}. ${plan.left}`;
      if (plan.ready) {
        show([cost, plan.sentence, plan.advice, ...plan.notes], !plan.covered);
      } else {
        show([cost, "The error to expect is being worked out on synthetic rows …"], !plan.covered);
        timer = setTimeout(ask, pause);
        pause = Math.min(2 * pause, 8000);
      }
    } catch {
      show(["The service does not answer; press Plan to try again."], true);
    } finally {
      if (number === newest) output.removeAttribute("aria-busy");
    }
  };

  form.addEventListener("input", () => {
    clearTimeout(timer);
    pause = 1000;
    timer = setTimeout(ask, 500);
  });
  ask();
})();

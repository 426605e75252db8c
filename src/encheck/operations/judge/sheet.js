"use strict";
const form = document.getElementById("questions");
const state = document.getElementById("state");
const sets = [...form.querySelectorAll("fieldset")];
const looks = form.dataset.looks.split(" ").filter(Boolean).map(Number);
const KEYS = { 1: "1", 2: "2", "=": "equal", e: "equal", 0: "neither", n: "neither" };

function answers() {
  return Object.fromEntries(new FormData(form));
}

function prefix(said) {
  const open = sets.findIndex((set) => !(set.name in said));
  return open < 0 ? sets.length : open;
}

function tell() {
  const said = answers();
  const reached = looks.filter((look) => look <= prefix(said)).length;
  const due = reached ? " Enough for a look: save, then encheck says whether it decides." : "";
  state.textContent = `${Object.keys(said).length} of ${sets.length} answered.${due}`;
}

function save() {
  const text = JSON.stringify({ judging: form.dataset.plan, answers: answers() }, null, 1);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "answers.json";
  link.click();
  URL.revokeObjectURL(link.href);
}

function next(set) {
  const said = answers();
  const at = sets.indexOf(set);
  const open = [...sets.slice(at + 1), ...sets.slice(0, at)].find((one) => !(one.name in said));
  if (open) {
    open.querySelector("input").focus();
    open.scrollIntoView({ block: "center" });
  }
}

document.addEventListener("keydown", (event) => {
  const value = KEYS[event.key];
  if (!value || event.ctrlKey || event.metaKey || event.altKey) return;
  const said = answers();
  const set = document.activeElement.closest("fieldset") || sets.find((one) => !(one.name in said));
  if (!set) return;
  set.querySelector(`input[value="${value}"]`).checked = true;
  tell();
  next(set);
});
form.addEventListener("change", tell);
document.getElementById("save").addEventListener("click", save);
window.addEventListener("beforeunload", (event) => {
  if (Object.keys(answers()).length) event.preventDefault();
});
tell();
document.documentElement.dataset.ready = "";

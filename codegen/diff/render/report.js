// The filters. Their state is in the address: #verdict=breaking,risky&role=agent&code=reads, and user=fails if user
// code was checked. Any other # leads to a finding.
const form = document.querySelector("form");
const findings = [...document.querySelectorAll("article")];
const boxes = (name) => [...form.querySelectorAll(`[name=${name}]`)];
const names = ["verdict", "role", "code", "user"].filter((name) => document.querySelector(`[name=${name}]`));

function selection() {
  return Object.fromEntries(names.map((name) => [name, boxes(name).filter((box) => box.checked).map((box) => box.value)]));
}

// The worst verdict for the selected code; undefined if the finding doesn't affect any of it.
function verdictFor(finding, { role, code }) {
  const words = role.flatMap((one) => code.map((does) => finding.getAttribute(`data-${one}-${does}`)));
  return ["breaking", "risky", "safe"].find((word) => words.includes(word));
}

function matching(state) {
  const { verdict, user } = state;
  return findings.filter((each) => verdict.includes(verdictFor(each, state)) && (!user || user.includes(each.dataset.user)));
}

function show() {
  const state = selection();
  const shown = new Set(matching(state));
  for (const each of findings) {
    each.hidden = !shown.has(each);
    each.className = each.querySelector("b").textContent = verdictFor(each, state) ?? "safe";
  }
  for (const each of document.querySelectorAll("section")) each.hidden = !each.querySelector("article:not([hidden])");
  for (const box of names.flatMap(boxes))
    box.parentElement.querySelector("span").textContent = matching({ ...state, [box.name]: [box.value] }).length;
  form.querySelector("output").textContent = `${shown.size} of ${findings.length} findings`;
  form.querySelector("button").disabled = names.flatMap(boxes).every((box) => box.checked);
  document.getElementById("nothing").hidden = shown.size > 0;
}

function showAndStore() {
  show();
  const state = selection();
  history.replaceState(null, "", "#" + names.map((name) => `${name}=${state[name].join()}`).join("&"));
}

function showFromAddress() {
  const state = new URLSearchParams(location.hash.slice(1));
  const target = document.getElementById(location.hash.slice(1));
  if (names.some((name) => state.has(name)) || target?.closest("[hidden]"))
    for (const box of names.flatMap(boxes)) box.checked = state.get(box.name)?.split(",").includes(box.value) ?? true;
  show();
  target?.scrollIntoView();
}

if (form) {
  form.hidden = false;
  form.addEventListener("change", showAndStore);
  form.addEventListener("reset", () => setTimeout(showAndStore));
  addEventListener("hashchange", showFromAddress);
  showFromAddress();
}

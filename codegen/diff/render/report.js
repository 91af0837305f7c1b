// The filters. Their state is in the address: #verdict=breaking,risky&role=agent&code=reads. Any other # is a finding.
// Where user code was checked there is user=fails, too.
const form = document.querySelector("form");
const findings = [...document.querySelectorAll("article")];
const boxes = (name) => [...form.querySelectorAll(`[name=${name}]`)];
const names = ["verdict", "role", "code", "user"].filter((name) => document.querySelector(`[name=${name}]`));

function chosen() {
  return Object.fromEntries(names.map((name) => [name, boxes(name).filter((box) => box.checked).map((box) => box.value)]));
}

// The worst verdict for the code that is chosen; none if none of it has to do with the finding.
function judged(finding, { role, code }) {
  const words = role.flatMap((one) => code.map((does) => finding.getAttribute(`data-${one}-${does}`)));
  return ["breaking", "risky", "safe"].find((word) => words.includes(word));
}

function fitting(state) {
  const { verdict, user } = state;
  return findings.filter((each) => verdict.includes(judged(each, state)) && (!user || user.includes(each.dataset.user)));
}

function show() {
  const state = chosen();
  const shown = new Set(fitting(state));
  for (const each of findings) {
    each.hidden = !shown.has(each);
    each.className = each.querySelector("b").textContent = judged(each, state) ?? "safe";
  }
  for (const each of document.querySelectorAll("section")) each.hidden = !each.querySelector("article:not([hidden])");
  for (const box of names.flatMap(boxes))
    box.parentElement.querySelector("span").textContent = fitting({ ...state, [box.name]: [box.value] }).length;
  form.querySelector("output").textContent = `${shown.size} of ${findings.length} findings`;
  form.querySelector("button").disabled = names.flatMap(boxes).every((box) => box.checked);
  document.getElementById("nothing").hidden = shown.size > 0;
}

function remember() {
  show();
  const state = chosen();
  history.replaceState(null, "", "#" + names.map((name) => `${name}=${state[name].join()}`).join("&"));
}

function follow() {
  const state = new URLSearchParams(location.hash.slice(1));
  const target = document.getElementById(location.hash.slice(1));
  if (names.some((name) => state.has(name)) || target?.closest("[hidden]"))
    for (const box of names.flatMap(boxes)) box.checked = state.get(box.name)?.split(",").includes(box.value) ?? true;
  show();
  target?.scrollIntoView();
}

if (form) {
  form.hidden = false;
  form.addEventListener("change", remember);
  form.addEventListener("reset", () => setTimeout(remember));
  addEventListener("hashchange", follow);
  follow();
}

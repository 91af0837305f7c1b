// The scripted client, written with the official TypeScript SDK. `tests/support/interop/their_client.py` says how it is driven.
// Arguments: the folder of the SDK, then the command that starts the agent.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { acp } from "./sdk.mjs";

const { client: CLIENT } = acp.methods;
const tell = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const calls = new Map();
let answers = {};
let cancel;
let cancelled;

function answerWith(these) {
  answers = these;
  cancelled = new Promise((resolve) => {
    cancel = resolve;
  });
}

async function answer({ method, params }) {
  tell({ event: method, params });
  const its = answers[method];
  if (its.error) {
    throw new acp.RequestError(its.error.code, its.error.message, its.error.data);
  }
  if (its.crash) {
    throw new Error(its.crash);
  }
  if (its.cancelled) {
    await cancelled;
    return its.cancelled;
  }
  return its.result;
}

const take = ({ method, params }) => tell({ event: method, params });

const app = acp
  .client({ name: "scripted-client" })
  .onRequest("_interop/ask", (params) => params, answer)
  .onNotification("_interop/note", (params) => params, take)
  .onNotification(CLIENT.session.update, take)
  .onRequest(CLIENT.session.requestPermission, answer)
  .onRequest(CLIENT.elicitation.create, answer);
for (const method of [...Object.values(CLIENT.fs), ...Object.values(CLIENT.terminal)]) {
  app.onRequest(method, answer);
}

const [command, ...args] = JSON.parse(process.argv[3]);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = once(child, "exit");
const connection = app.connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));

function request(method, params) {
  const controller = new AbortController();
  calls.set(method, controller);
  return connection.agent.request(method, params, { cancellationSignal: controller.signal });
}

async function obey({ id, call, notify, params, answers: given, give_up: givenUp }) {
  if (givenUp) {
    calls.get(givenUp).abort();
    tell({ id, result: null });
    return;
  }
  if (given) {
    answerWith(given);
    tell({ id, result: null });
    return;
  }
  try {
    const result = call ? await request(call, params) : await connection.agent.notify(notify, params);
    if (notify === "session/cancel") {
      cancel();
    }
    // The SDK resolves a call before it has handled the notifications that came right before the answer.
    await setImmediate();
    tell({ id, result: result ?? null });
  } catch ({ code, message, data }) {
    tell({ id, error: { code, message, data } });
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  void obey(JSON.parse(line));
}
connection.close();
child.stdin.end();
const [code] = await exited;
tell({ exit: code });

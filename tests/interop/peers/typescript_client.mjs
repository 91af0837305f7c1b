// The client of the contract, written with the official TypeScript SDK. `driver.py` describes its commands.
// Argument: the folder of the SDK.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { acp, v2 } from "../../../tools/typescript_sdk.mjs";
import { remoteStream } from "./typescript_remote_stream.mjs";

const { client: CLIENT } = acp.methods;

/** Read or write a file, as a client without precautions does. */
async function onDisk(method, { path, content }) {
  if (method === CLIENT.fs.readTextFile) {
    return { content: await readFile(path, "utf8") };
  }
  await writeFile(path, content);
  return {};
}

/** Start an agent, and return the streams to it, and what waits until it has exited after the connection is closed. */
function start([command, ...args]) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  return {
    stream,
    async end() {
      child.stdin.end();
      const [code] = await exited;
      return code;
    },
  };
}

/** Connect to an agent behind a URL. */
async function reach(url) {
  return { stream: await remoteStream(url), end: async () => 0 };
}

/** Return what executes a command for the connection to an agent, and what closes it. */
async function connect(number, agent, version) {
  const emit = (message) => process.stdout.write(`${JSON.stringify({ connection: number, ...message })}\n`);
  const calls = new Map();
  let responses = {};
  let cancel;
  let cancelled;

  function setResponses(changed) {
    responses = changed;
    cancelled = new Promise((resolve) => {
      cancel = resolve;
    });
  }

  async function respond({ method, params }) {
    emit({ event: method, params });
    const scripted = responses[method];
    if (scripted.error) {
      throw new acp.RequestError(scripted.error.code, scripted.error.message, scripted.error.data);
    }
    if (scripted.crash) {
      throw new Error(scripted.crash);
    }
    if (scripted.disk) {
      return onDisk(method, params);
    }
    if (scripted.cancelled) {
      await cancelled;
      return scripted.cancelled;
    }
    return scripted.result;
  }

  const record = ({ method, params }) => emit({ event: method, params });

  const app = (version === "1" ? acp : v2)
    .client({ name: "scripted-client" })
    .onNotification(CLIENT.session.update, record)
    .onRequest(CLIENT.session.requestPermission, respond);
  if (version === "1") {
    app
      .onRequest("_interop/ask", (params) => params, respond)
      .onNotification("_interop/note", (params) => params, record)
      .onRequest(CLIENT.elicitation.create, respond);
    for (const method of [...Object.values(CLIENT.fs), ...Object.values(CLIENT.terminal)]) {
      app.onRequest(method, respond);
    }
  }

  const { stream, end } = await (typeof agent === "string" ? reach(agent) : start(agent));
  const connection = app.connect(stream);

  function request(method, params) {
    const controller = new AbortController();
    calls.set(method, controller);
    return connection.agent.request(method, params, { cancellationSignal: controller.signal });
  }

  async function execute({ id, call, notify, params, responses: given, cancel_call: cancelledCall }) {
    if (cancelledCall) {
      calls.get(cancelledCall).abort();
      emit({ id, result: null });
      return;
    }
    if (given) {
      setResponses(given);
      emit({ id, result: null });
      return;
    }
    try {
      const result = call ? await request(call, params) : await connection.agent.notify(notify, params);
      if (notify === "session/cancel") {
        cancel();
      }
      // The SDK resolves a call before it has handled the notifications that were received before the response.
      await setImmediate();
      emit({ id, result: result ?? null });
    } catch ({ code, message, data }) {
      emit({ id, error: { code, message, data } });
    }
  }

  async function close() {
    connection.close();
    emit({ exit: await end() });
  }

  return { execute, close };
}

const connections = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const { connection, connect: agent, version, close, ...command } = JSON.parse(line);
  if (agent) {
    connections.set(connection, await connect(connection, agent, version));
  } else if (close) {
    void connections.get(connection).close();
  } else {
    void connections.get(connection).execute(command);
  }
}

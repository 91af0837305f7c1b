// The client, written with the official TypeScript SDK. `programs/ours/client.py` is the same one with this package.
// Arguments: the folder of the SDK, the task, then the command that starts the agent.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { acp } from "../../../tests/interop/peers/sdk.mjs";

const { agent: AGENT, client: CLIENT } = acp.methods;
const task = JSON.parse(process.argv[3]);
const [command, ...args] = process.argv.slice(4);

let handled = 0;
let wanted = -1;
let done = () => {};

const app = acp.client({ name: "counting-client" }).onNotification(CLIENT.session.update, () => {
  handled += 1;
  if (handled === wanted) {
    done();
  }
});

const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = once(child, "exit");
const connection = app.connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
const { agent } = connection;

async function openSession() {
  return (await agent.request(AGENT.session.new, { cwd: "/tmp", mcpServers: [] })).sessionId;
}

function prompt(sessionId, count, size) {
  return agent.request(AGENT.session.prompt, { sessionId, prompt: [{ type: "text", text: `${count} ${size}` }] });
}

async function stream(session, count, size) {
  if (!count) {
    return;
  }
  const all = new Promise((resolve) => {
    done = resolve;
  });
  wanted = handled + count;
  await prompt(session, count, size);
  await all;
}

async function updates() {
  const session = await openSession();
  await stream(session, task.warm, 40);
  const started = performance.now();
  await stream(session, task.count, task.size);
  return performance.now() - started;
}

async function prompts() {
  const sessions = [];
  for (let number = 0; number < task.in_flight; number += 1) {
    sessions.push(await openSession());
  }
  async function oneAfterTheOther(session, count) {
    for (let number = 0; number < count; number += 1) {
      await prompt(session, 0, 0);
    }
  }
  const each = (count) => Math.floor(count / sessions.length);
  await Promise.all(sessions.map((session) => oneAfterTheOther(session, each(task.warm))));
  const started = performance.now();
  await Promise.all(sessions.map((session) => oneAfterTheOther(session, each(task.count))));
  return performance.now() - started;
}

await agent.request(AGENT.initialize, { protocolVersion: 1, clientCapabilities: {} });
const milliseconds = await ("in_flight" in task ? prompts() : updates());
connection.close();
child.stdin.end();
await exited;
console.log(JSON.stringify({ seconds: milliseconds / 1000 }));

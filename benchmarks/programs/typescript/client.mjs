// The client, written with the official TypeScript SDK. It does the same as `programs/client_tasks.py`.
// Arguments: the folder of the SDK, the task, then the command that starts the agent.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { acp } from "../../../tools/typescript_sdk.mjs";

const { agent: AGENT, client: CLIENT } = acp.methods;
const task = JSON.parse(process.argv[3]);
const [command, ...args] = process.argv.slice(4);
const ends = [];

class CountingClient {
  handled = 0;
  wanted = -1;
  done = () => {};

  constructor() {
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    const exited = once(child, "exit");
    const app = acp.client({ name: "counting-client" }).onNotification(CLIENT.session.update, () => this.handle());
    const connection = app.connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
    this.agent = connection.agent;
    ends.push(async () => {
      connection.close();
      child.stdin.end();
      await exited;
    });
  }

  handle() {
    this.handled += 1;
    if (this.handled === this.wanted) {
      this.done();
    }
  }

  initialize() {
    return this.agent.request(AGENT.initialize, { protocolVersion: 1, clientCapabilities: {} });
  }

  async openSession() {
    return (await this.agent.request(AGENT.session.new, { cwd: "/tmp", mcpServers: [] })).sessionId;
  }

  prompt(sessionId, count, size) {
    const text = { type: "text", text: `${count} ${size}` };
    return this.agent.request(AGENT.session.prompt, { sessionId, prompt: [text] });
  }

  // Let the agent stream updates, and wait until they are handled.
  async stream(session, count, size) {
    if (!count) {
      return;
    }
    const done = new Promise((resolve) => {
      this.done = resolve;
    });
    this.wanted = this.handled + count;
    await this.prompt(session, count, size);
    await done;
  }
}

const seconds = () => performance.now() / 1000;

// Return the peak memory of this process in bytes.
function peakMemory() {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf-8"))[1]) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}

async function updates() {
  const client = new CountingClient();
  await client.initialize();
  const session = await client.openSession();
  await client.stream(session, task.warm, 40);
  const started = seconds();
  await client.stream(session, task.count, task.size);
  return { seconds: seconds() - started };
}

async function prompts() {
  const client = new CountingClient();
  await client.initialize();
  const sessions = [];
  for (let number = 0; number < task.in_flight; number += 1) {
    sessions.push(await client.openSession());
  }
  async function oneAfterTheOther(session, count) {
    for (let number = 0; number < count; number += 1) {
      await client.prompt(session, 0, 0);
    }
  }
  const each = (count) => Math.floor(count / sessions.length);
  await Promise.all(sessions.map((session) => oneAfterTheOther(session, each(task.warm))));
  const started = seconds();
  await Promise.all(sessions.map((session) => oneAfterTheOther(session, each(task.count))));
  return { seconds: seconds() - started };
}

async function agents() {
  const clients = [];
  const sessions = [];
  async function openSessions(number) {
    const opened = Array.from({ length: number }, () => new CountingClient());
    await Promise.all(opened.map((client) => client.initialize()));
    sessions.push(...(await Promise.all(opened.map((client) => client.openSession()))));
    clients.push(...opened);
  }
  await openSessions(1);
  const one = peakMemory();
  await openSessions(task.agents - 1);
  const idle = (peakMemory() - one) / (task.agents - 1);

  async function finish(client, session, count) {
    await client.stream(session, count, 40);
    return seconds();
  }
  const all = (count) => Promise.all(clients.map((client, number) => finish(client, sessions[number], count)));
  await all(task.warm);
  const started = seconds();
  const took = (await all(task.count)).map((at) => at - started).sort((a, b) => a - b);
  const median = (took[Math.floor((took.length - 1) / 2)] + took[Math.floor(took.length / 2)]) / 2;
  return { seconds: took.at(-1), lag: took.at(-1) / median, idle };
}

const measured = await { updates, prompts, agents }[task.do]();
await Promise.all(ends.map((end) => end()));
console.log(JSON.stringify({ ...measured, peak: peakMemory() }));

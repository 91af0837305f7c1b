// What the scripted agents of the TypeScript SDK do, over stdio and at the other end of a network.
import { readFileSync } from "node:fs";
import { acp } from "./sdk.mjs";

const SCRIPT = JSON.parse(readFileSync(new URL("../script.json", import.meta.url), "utf-8"));
const { agent: AGENT, client: CLIENT } = acp.methods;

const update = (client, sessionId, content) => client.notify(CLIENT.session.update, { sessionId, update: content });

function say(client, sessionId, value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return update(client, sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
}

const commands = {
  async stream({ client, sessionId }, number) {
    for (let n = 0; n < Number(number); n += 1) {
      const content = { type: "text", text: String(n), future: n };
      await update(client, sessionId, { sessionUpdate: "agent_message_chunk", content, _meta: { n }, tomorrow: [n] });
    }
  },
  async dump({ client, sessionId, prompt }) {
    await say(client, sessionId, prompt);
  },
  async wait({ client, sessionId, cancelled }) {
    await say(client, sessionId, "waiting");
    await cancelled;
  },
  async permission({ client, sessionId }) {
    await update(client, sessionId, SCRIPT.toolCall);
    const { outcome } = await client.request(CLIENT.session.requestPermission, { sessionId, ...SCRIPT.permission });
    const status = outcome.outcome === "selected" && outcome.optionId === "allow" ? "completed" : "failed";
    await update(client, sessionId, { sessionUpdate: "tool_call_update", toolCallId: "call-1", status });
    await say(client, sessionId, outcome);
  },
  async read({ client, sessionId }, path) {
    try {
      const file = await client.request(CLIENT.fs.readTextFile, { sessionId, path, line: 2, limit: 1 });
      await say(client, sessionId, file.content);
    } catch ({ code, message, data }) {
      await say(client, sessionId, { code, message, data });
    }
  },
  async write({ client, sessionId }, path, content) {
    await client.request(CLIENT.fs.writeTextFile, { sessionId, path, content });
    await say(client, sessionId, "written");
  },
  async terminal({ client, sessionId }) {
    const terminal = await client.createTerminal({ sessionId, ...SCRIPT.terminal });
    const output = await terminal.currentOutput();
    await terminal.kill();
    const status = await terminal.waitForExit();
    await terminal.release();
    await say(client, sessionId, [terminal.id, output, status]);
  },
  async elicit({ client, sessionId }) {
    await say(client, sessionId, await client.request(CLIENT.elicitation.create, { sessionId, mode: "form", ...SCRIPT.form }));
  },
  async ext({ client, sessionId }) {
    await client.notify("_interop/note", { n: 1 });
    await say(client, sessionId, await client.request("_interop/ask", { x: [1, null] }));
  },
  async typed({ client, sessionId }) {
    const params = { sessionId, numbers: [1, 2, 3] };
    await client.notify("_interop/adding", params);
    const total = await client.request("_interop/add", params);
    try {
      await client.request("_interop/add", { ...params, numbers: [1, "two"] });
    } catch ({ code, data }) {
      await say(client, sessionId, [total, code, data]);
    }
  },
  async unknown({ client, sessionId }) {
    try {
      await client.request("_interop/unknown", {});
    } catch ({ code }) {
      await say(client, sessionId, code);
    }
  },
  error() {
    throw new acp.RequestError(SCRIPT.error.code, SCRIPT.error.message, SCRIPT.error.data);
  },
  crash() {
    throw new Error(SCRIPT.secret);
  },
};

/** Return an agent for one connection. `flags` is a set of arguments. */
export function scriptedAgent(flags) {
  let authenticated = !flags.has("--auth");
  const notifications = [];
  const options = new Map(SCRIPT.configOptions.map((each) => [each.id, each.currentValue]));
  const known = new Set(SCRIPT.sessions.map((each) => each.sessionId));
  const cancels = new Map();

  const configOptions = () => SCRIPT.configOptions.map((each) => ({ ...each, currentValue: options.get(each.id) }));

  function checkKnown(sessionId) {
    if (!known.has(sessionId)) {
      throw new acp.RequestError(-32002, "Resource not found", { sessionId });
    }
  }

  return acp
    .agent({ name: "scripted-agent" })
    .onRequest(AGENT.initialize, ({ params }) => ({
      protocolVersion: flags.has("--version-7") ? 7 : params.protocolVersion,
      agentInfo: SCRIPT.agentInfo,
      agentCapabilities: SCRIPT.agentCapabilities,
      authMethods: SCRIPT.authMethods,
      _meta: { received: params },
    }))
    .onRequest(AGENT.authenticate, ({ params }) => {
      if (params.methodId !== "login") {
        throw acp.RequestError.invalidParams({ methodId: params.methodId });
      }
      authenticated = true;
    })
    .onRequest(AGENT.session.new, ({ params }) => {
      if (!authenticated) {
        throw acp.RequestError.authRequired({ methods: ["login"] });
      }
      return { sessionId: "new", modes: SCRIPT.modes, configOptions: configOptions(), _meta: { received: params } };
    })
    .onRequest(AGENT.session.load, async ({ params: { sessionId }, client }) => {
      checkKnown(sessionId);
      for (const each of SCRIPT.history) {
        await update(client, sessionId, each);
      }
      return { modes: SCRIPT.modes };
    })
    .onRequest(AGENT.session.list, ({ params: { cursor } }) => {
      const sessions = SCRIPT.sessions.filter((each) => known.has(each.sessionId));
      return cursor ? { sessions: sessions.slice(1) } : { sessions: sessions.slice(0, 1), nextCursor: "more" };
    })
    .onRequest(AGENT.session.resume, ({ params: { sessionId } }) => {
      checkKnown(sessionId);
      return { modes: SCRIPT.modes };
    })
    .onRequest(AGENT.session.close, ({ params: { sessionId } }) => checkKnown(sessionId))
    .onRequest(AGENT.session.delete, ({ params: { sessionId } }) => {
      checkKnown(sessionId);
      known.delete(sessionId);
    })
    .onRequest(AGENT.session.setMode, async ({ params: { sessionId, modeId }, client }) => {
      await update(client, sessionId, { sessionUpdate: "current_mode_update", currentModeId: modeId });
    })
    .onRequest(AGENT.session.setConfigOption, ({ params: { configId, value } }) => {
      if (typeof options.get(configId) !== typeof value) {
        throw acp.RequestError.invalidParams({ configId });
      }
      options.set(configId, value);
      return { configOptions: configOptions() };
    })
    .onRequest(AGENT.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
      let stopReason = "end_turn";
      const cancelled = new Promise((resolve) => {
        cancels.set(sessionId, () => {
          stopReason = "cancelled";
          resolve();
        });
      });
      const [command, ...words] = prompt[0].text.split(" ");
      await commands[command]({ client, sessionId, prompt, cancelled }, ...words);
      return { stopReason, future: { deep: [1, null] } };
    })
    .onNotification(AGENT.session.cancel, ({ params: { sessionId } }) => cancels.get(sessionId)())
    .onRequest("_interop/echo", (params) => params, ({ method, params }) => ({ method, params, notifications }))
    .onNotification("_interop/note", (params) => params, ({ method, params }) => void notifications.push([method, params]));
}

// What the scripted agents of the TypeScript SDK do, over stdio and at the other end of a network.
import { readFileSync } from "node:fs";
import { acp } from "../../../tools/typescript_sdk.mjs";

const SCRIPT = JSON.parse(readFileSync(new URL("../script.json", import.meta.url), "utf-8"));
const { agent: AGENT, client: CLIENT } = acp.methods;

const update = (client, sessionId, content) => client.notify(CLIENT.session.update, { sessionId, update: content });

/** Do one thing that a prompt lists, and return its result if it has one. `contract.py` describes them. */
async function act({ call, notify, params, ...action }, turn) {
  const { client, sessionId } = turn;
  if (call) {
    const own = Object.entries(params).map(([key, value]) => [key, value === "$terminal" ? turn.terminal : value]);
    try {
      const result = await client.request(call, call.startsWith("_") ? params : { sessionId, ...Object.fromEntries(own) });
      turn.terminal = result?.terminalId ?? turn.terminal;
      return { result: result ?? {} };
    } catch ({ code, message, data }) {
      return { error: { code, message, data } };
    }
  }
  if (notify) {
    await client.notify(notify, notify.startsWith("_") ? params : { sessionId, ...params });
  } else if (action.dump) {
    return turn.prompt;
  } else if (action.wait) {
    await turn.cancelled;
    if (turn.signal.aborted) {
      throw new acp.RequestError(-32800, "Request cancelled");
    }
  } else if (action.raise) {
    throw new acp.RequestError(action.raise.code, action.raise.message, action.raise.data);
  } else {
    throw new Error(action.crash);
  }
}

/** Return an agent for one connection. */
export function scriptedAgent() {
  let authenticated = false;
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
      protocolVersion: params.protocolVersion,
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
      if (params.cwd === "/locked" && !authenticated) {
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
    .onRequest(AGENT.session.prompt, async ({ params: { sessionId, prompt }, client, signal }) => {
      let stopReason = "end_turn";
      const cancelled = new Promise((resolve) => {
        cancels.set(sessionId, () => {
          stopReason = "cancelled";
          resolve();
        });
        signal.addEventListener("abort", resolve);
      });
      const turn = { client, sessionId, prompt, cancelled, signal };
      const results = [];
      for (const action of JSON.parse(prompt[0].text)) {
        const result = await act(action, turn);
        if (result !== undefined) {
          results.push(result);
        }
      }
      if (results.length) {
        const content = { type: "text", text: JSON.stringify(results) };
        await update(client, sessionId, { sessionUpdate: "agent_message_chunk", content });
      }
      return { stopReason, future: { deep: [1, null] } };
    })
    .onNotification(AGENT.session.cancel, ({ params: { sessionId } }) => cancels.get(sessionId)())
    .onRequest("_interop/echo", (params) => params, ({ method, params }) => ({ method, params, notifications }))
    .onNotification("_interop/note", (params) => params, ({ method, params }) => void notifications.push([method, params]));
}

// An agent that calls the methods of its client which a prompt lists, written with the official TypeScript SDK. It does
// the same as `python_tool_agent.py`. Argument: the folder of the SDK.
import { Readable, Writable } from "node:stream";
import { acp } from "./sdk.mjs";

const { agent: AGENT, client: CLIENT } = acp.methods;

const app = acp
  .agent({ name: "tool-agent" })
  .onRequest(AGENT.initialize, ({ params }) => ({ protocolVersion: params.protocolVersion }))
  .onRequest(AGENT.session.new, () => ({ sessionId: "new" }))
  .onNotification(AGENT.session.cancel, () => {})
  .onRequest(AGENT.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    let terminal = "";
    const results = [];
    for (const [method, params] of JSON.parse(prompt[0].text)) {
      const own = Object.entries(params).map(([key, value]) => [key, value === "$terminal" ? terminal : value]);
      try {
        const result = await client.request(method, { sessionId, ...Object.fromEntries(own) });
        terminal = result?.terminalId ?? terminal;
        results.push({ result: result ?? {} });
      } catch ({ code, message, data }) {
        results.push({ error: { code, message, data } });
      }
    }
    const content = { type: "text", text: JSON.stringify(results) };
    await client.notify(CLIENT.session.update, { sessionId, update: { sessionUpdate: "agent_message_chunk", content } });
    return { stopReason: "end_turn" };
  });

const connection = app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
await connection.closed;

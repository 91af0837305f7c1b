// The agent, written with the official TypeScript SDK. It does the same as `programs/ours/agent.py`.
// Arguments: the folder of the SDK, and `remote` to serve over WebSocket and HTTP.
import { createServer } from "node:http";
import { Readable, Writable } from "node:stream";
import { acp, load } from "../../../tools/typescript_sdk.mjs";

const { agent: AGENT, client: CLIENT } = acp.methods;
let sessions = 0;

// Return this many characters of ordinary lines.
function textOf(size) {
  const line = "a line of an ordinary file, with its end\n";
  return line.repeat(Math.floor(size / line.length) + 1).slice(0, size);
}

const createAgent = () => acp
  .agent({ name: "streaming-agent" })
  .onRequest(AGENT.initialize, ({ params }) => ({ protocolVersion: params.protocolVersion, agentCapabilities: {} }))
  .onRequest(AGENT.session.new, () => {
    sessions += 1;
    return { sessionId: `8f14e45f-ceea-467f-a0d1-${String(sessions).padStart(12, "0")}` };
  })
  .onRequest(AGENT.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    const [count, size] = prompt[0].text.split(" ").map(Number);
    const text = textOf(size);
    for (let number = 0; number < count; number += 1) {
      const content = { type: "text", text };
      await client.notify(CLIENT.session.update, { sessionId, update: { sessionUpdate: "agent_message_chunk", content } });
    }
    return { stopReason: "end_turn" };
  });

if (process.argv[3] === "remote") {
  const { AcpServer } = await load("@agentclientprotocol/sdk/experimental/server");
  const node = await load("@agentclientprotocol/sdk/experimental/node");
  const { default: ws } = await load("ws");
  const server = new AcpServer({ createAgent });
  const http = createServer(node.createNodeHttpHandler(server));
  const sockets = new ws.WebSocketServer({ noServer: true });
  http.on("upgrade", node.createNodeWebSocketUpgradeHandler(server, sockets));
  http.listen({ port: 0, host: "127.0.0.1", backlog: 2048 }, () => console.log(http.address().port));
} else {
  const streams = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
  await createAgent().connect(streams).closed;
}

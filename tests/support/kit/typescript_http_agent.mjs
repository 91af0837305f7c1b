// An agent of the TypeScript SDK that is served over HTTP. It repeats a prompt after asking for permission, and replays
// what was said when a session is loaded. It prints its port, and exits when stdin is closed.
// Argument: the folder of the SDK.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { resolve } = createRequire(join(process.argv[2], "peer.js"));
const load = (name) => import(pathToFileURL(resolve(name)).href);
const acp = await load("@agentclientprotocol/sdk");
const { AcpServer } = await load("@agentclientprotocol/sdk/experimental/server");
const { createNodeHttpHandler } = await load("@agentclientprotocol/sdk/experimental/node");
const { agent: AGENT, client: CLIENT } = acp.methods;

const said = [];
const say = (client, sessionId, content) =>
  client.notify(CLIENT.session.update, { sessionId, update: { sessionUpdate: "agent_message_chunk", content } });

function createAgent() {
  return acp
    .agent({ name: "echo" })
    .onRequest(AGENT.initialize, () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true } }))
    .onRequest(AGENT.session.new, () => ({ sessionId: "session-1" }))
    .onRequest(AGENT.session.load, async ({ params, client }) => {
      for (const each of said) await say(client, params.sessionId, each);
      return {};
    })
    .onRequest(AGENT.session.prompt, async ({ params, client }) => {
      const { outcome } = await client.request(CLIENT.session.requestPermission, {
        sessionId: params.sessionId,
        toolCall: { toolCallId: "call-1", title: "Repeat it" },
        options: [{ optionId: "allow", name: "Allow", kind: "allow_once" }],
      });
      if (outcome.outcome === "cancelled") return { stopReason: "cancelled" };
      said.push(params.prompt[0]);
      await say(client, params.sessionId, params.prompt[0]);
      return { stopReason: "end_turn" };
    });
}

const http = createServer(createNodeHttpHandler(new AcpServer({ createAgent })));
http.listen(0, "127.0.0.1", () => console.log(http.address().port));
process.stdin.on("end", () => process.exit(0)).resume();

// The agents of the TypeScript SDK at the other end of a network: the scripted one at `/acp`, and routers at the
// versions that they have: `/1`, `/2` and `/1,2`. It prints its host and port, and exits when stdin is closed.
// Argument: the folder of the SDK and of ws.
import { createServer } from "node:http";
import { load } from "../../../tools/typescript_sdk.mjs";
import { routerOf } from "./typescript_routers.mjs";
import { scriptedAgent } from "./typescript_scripted.mjs";

const { AcpServer } = await load("@agentclientprotocol/sdk/experimental/server");
const { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } = await load(
  "@agentclientprotocol/sdk/experimental/node",
);
const { WebSocketServer } = (await load("ws")).default;

function endpoint(createAgent) {
  const server = new AcpServer({ createAgent });
  const sockets = new WebSocketServer({ noServer: true });
  return { request: createNodeHttpHandler(server), upgrade: createNodeWebSocketUpgradeHandler(server, sockets) };
}

const endpoints = { "/acp": endpoint(() => scriptedAgent()) };
for (const versions of ["1", "2", "1,2"]) {
  endpoints[`/${versions}`] = endpoint(() => routerOf(versions));
}

const http = createServer((request, response) => endpoints[request.url].request(request, response));
http.on("upgrade", (request, socket, head) => endpoints[request.url].upgrade(request, socket, head));
http.listen(0, "127.0.0.1", () => console.log(`127.0.0.1:${http.address().port}`));
process.stdin.on("end", () => process.exit(0)).resume();

// A client of one version of the protocol, written with the TypeScript SDK. It prints what it received.
// Arguments: the folder of the SDK, the version, and the command that starts the agent.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { acp, v2 } from "./sdk.mjs";

const [, , , version, command, ...args] = process.argv;
const sdk = version === "1" ? acp : v2;
const info = { name: "typescript", version: "1" };
const opening = version === "1" ? { clientInfo: info, clientCapabilities: {} } : { info, capabilities: {} };
const texts = [];

const app = sdk
  .client({ name: "client" })
  .onNotification("session/update", ({ params: { update } }) => void texts.push(update.content.text))
  .onRequest("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "yes" } }));

const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const connection = app.connect(sdk.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
try {
  const params = { protocolVersion: Number(version), ...opening };
  const initialized = await connection.agent.request("initialize", params);
  const { sessionId } = await connection.agent.request("session/new", { cwd: "/", mcpServers: [] });
  const prompt = [{ type: "text", text: "hello" }];
  const answer = await connection.agent.request("session/prompt", { sessionId, prompt });
  console.log(JSON.stringify({ initialized, answer, texts }));
} catch (error) {
  console.log(JSON.stringify({ error: { code: error.code, message: error.message } }));
}
connection.close();
child.stdin.destroy();

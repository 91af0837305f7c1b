// Clients of one version of the protocol, written with the TypeScript SDK. It prints what they received.
// Arguments: the folder of the SDK, and a JSON list, for each client, with its version and the command or URL of its agent.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { acp, v2 } from "./sdk.mjs";
import { remoteStream } from "./typescript_remote_stream.mjs";

const info = { name: "typescript", version: "1" };

async function talk(version, stream) {
  const sdk = version === "1" ? acp : v2;
  const opening = version === "1" ? { clientInfo: info, clientCapabilities: {} } : { info, capabilities: {} };
  const texts = [];
  let update;
  const updated = new Promise((resolve) => {
    update = resolve;
  });
  const connection = sdk
    .client({ name: "client" })
    .onNotification("session/update", ({ params }) => update(texts.push(params.update.content.text)))
    .onRequest("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "yes" } }))
    .connect(stream);
  try {
    const params = { protocolVersion: Number(version), ...opening };
    const initialized = await connection.agent.request("initialize", params);
    const { sessionId } = await connection.agent.request("session/new", { cwd: "/", mcpServers: [] });
    const prompt = [{ type: "text", text: "hello" }];
    const answer = await connection.agent.request("session/prompt", { sessionId, prompt });
    await updated; // in version 2, it comes after the answer
    return { initialized, answer, texts };
  } catch (error) {
    return { error: { code: error.code, message: error.message } };
  } finally {
    connection.close();
  }
}

async function start(version, [command, ...args]) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const talked = await talk(version, acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  child.stdin.destroy();
  return talked;
}

const talked = [];
for (const [version, to] of JSON.parse(process.argv[3])) {
  talked.push(await (typeof to === "string" ? talk(version, await remoteStream(to)) : start(version, to)));
}
console.log(JSON.stringify(talked));

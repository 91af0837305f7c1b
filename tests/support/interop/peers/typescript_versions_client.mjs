// A client of one version of the protocol, written with the TypeScript SDK. It prints what it received.
// Arguments: the folder of the SDK, the version, and the command that starts the agent. Or, for agents behind URLs:
// the folder, and versions and URLs by turns; it prints a list.
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

const [version, target, ...others] = process.argv.slice(3);
if (target.includes("://")) {
  const talked = [];
  const rest = [version, target, ...others];
  while (rest.length) {
    const [each, url] = rest.splice(0, 2);
    talked.push(await talk(each, await remoteStream(url)));
  }
  console.log(JSON.stringify(talked));
} else {
  const child = spawn(target, others, { stdio: ["pipe", "pipe", "inherit"] });
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  console.log(JSON.stringify(await talk(version, stream)));
  child.stdin.destroy();
}

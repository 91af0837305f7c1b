// A client in another language: `node node_client.mjs PROMPT COMMAND...` prints what the agent says, and how it ends.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [prompt, command, ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const send = (message) => agent.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

send({ id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
send({ id: 1, method: "session/new", params: { cwd: "/", mcpServers: [] } });
for await (const line of createInterface({ input: agent.stdout })) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    console.log(`not JSON: ${line}`);
    continue;
  }
  const { id, params, result, error } = message;
  if (id === 1) {
    const text = [{ type: "text", text: prompt }];
    send({ id: 2, method: "session/prompt", params: { sessionId: result.sessionId, prompt: text } });
  } else if (id === 2) {
    console.log(error ? error.message : result.stopReason);
    agent.stdin.end();
  } else if (params?.update?.content) console.log(params.update.content.text);
}
agent.on("close", (code) => console.log(`exit code ${code}`));

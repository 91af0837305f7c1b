// An agent in another language: says "from node", and asks for permission if the prompt is "ask".
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
let prompt;

function say(text) {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
  send({ method: "session/update", params: { sessionId: "s", update } });
}

function end(text) {
  say(text);
  send({ id: prompt, result: { stopReason: "end_turn" } });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "initialize") send({ id, result: { protocolVersion: 1 } });
  else if (method === "session/new") send({ id, result: { sessionId: "s" } });
  else if (method === "session/prompt") {
    prompt = id;
    if (params.prompt[0].text === "ask") {
      const options = [{ optionId: "no", name: "No", kind: "reject_once" }];
      const toolCall = { toolCallId: "1", title: "Delete it" };
      send({ id: "question", method: "session/request_permission", params: { sessionId: "s", toolCall, options } });
    } else end("from node");
  } else if (result) end(result.outcome.optionId ?? result.outcome.outcome);
  else console.error(`unexpected: ${line}`);
}

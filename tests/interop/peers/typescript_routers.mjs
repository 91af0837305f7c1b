// Agents of the versions 1 and 2 of the protocol, with the router of the TypeScript SDK.
import { acp, v2 } from "../../../tools/typescript_sdk.mjs";

const info = { name: "typescript", version: "1" };

const one = acp
  .agent({ name: "one" })
  .onRequest("initialize", () => ({ protocolVersion: 1, agentInfo: info, agentCapabilities: {} }))
  .onRequest("session/new", () => ({ sessionId: "new" }))
  .onRequest("session/prompt", async ({ params: { sessionId, prompt }, client }) => {
    const update = { sessionUpdate: "agent_message_chunk", content: prompt[0] };
    await client.notify("session/update", { sessionId, update });
    return { stopReason: "end_turn" };
  });

const two = v2
  .agent({ name: "two" })
  .onRequest("initialize", () => ({ protocolVersion: 2, info, capabilities: { session: {} } }))
  .onRequest("session/new", () => ({ sessionId: "new" }))
  .onRequest("session/prompt", async ({ params: { sessionId, prompt }, client }) => {
    const update = { sessionUpdate: "agent_message_chunk", messageId: "m", content: prompt[0] };
    await client.notify("session/update", { sessionId, update });
    return { messageId: "m" };
  });

/** Return a router for an agent that has some versions: `1`, `2` or `1,2`. */
export function routerOf(versions) {
  const router = v2.agentProtocolRouter();
  if (versions.includes("1")) {
    router.withV1(one);
  }
  if (versions.includes("2")) {
    router.withV2(two);
  }
  return router;
}

// Opens a stream to an agent behind a URL. It needs ws for WebSocket.
import { load } from "../../../tools/typescript_sdk.mjs";

export async function remoteStream(url) {
  if (url.startsWith("http")) {
    const { createHttpStream } = await load("@agentclientprotocol/sdk/experimental/http-client");
    return createHttpStream(url);
  }
  const { createWebSocketStream } = await load("@agentclientprotocol/sdk/experimental/ws-client");
  const { WebSocket } = (await load("ws")).default;
  return createWebSocketStream(url, { WebSocket });
}

// The scripted agent, written with the official TypeScript SDK. It does the same as `our_agent.py`.
// Arguments: the folder of the SDK, then flags.
import { Readable, Writable } from "node:stream";
import { acp } from "./sdk.mjs";
import { scriptedAgent } from "./typescript_scripted.mjs";

const connection = scriptedAgent(new Set(process.argv.slice(3))).connect(
  acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)),
);
await connection.closed;

// The agent of the contract, written with the official TypeScript SDK.
// Argument: the folder of the SDK.
import { Readable, Writable } from "node:stream";
import { acp } from "../../../tools/typescript_sdk.mjs";
import { scriptedAgent } from "./typescript_scripted.mjs";

const connection = scriptedAgent().connect(
  acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)),
);
await connection.closed;

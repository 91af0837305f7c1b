// An agent of the versions 1 and 2 of the protocol, with the router of the TypeScript SDK.
// Arguments: the folder of the SDK, then the versions it has: `1`, `2` or `1,2`.
import { Readable, Writable } from "node:stream";
import { acp } from "../../../tools/typescript_sdk.mjs";
import { routerOf } from "./typescript_routers.mjs";

const stream = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
await routerOf(process.argv[3]).connect(stream).closed;

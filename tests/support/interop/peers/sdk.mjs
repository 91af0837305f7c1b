// Imports the TypeScript SDK from the folder where it is installed: the first argument of every peer.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const resolve = createRequire(join(process.argv[2], "peer.js")).resolve;
export const acp = await import(pathToFileURL(resolve("@agentclientprotocol/sdk")).href);
export const v2 = await import(pathToFileURL(resolve("@agentclientprotocol/sdk/experimental/v2")).href);

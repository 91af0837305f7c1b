// Imports the TypeScript SDK from the folder where it is installed: the first argument of every peer.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const resolve = createRequire(join(process.argv[2], "peer.js")).resolve;
/** Import a package that is installed in the folder. */
export const load = (name) => import(pathToFileURL(resolve(name)).href);
export const acp = await load("@agentclientprotocol/sdk");
export const v2 = await load("@agentclientprotocol/sdk/experimental/v2");

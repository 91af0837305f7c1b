// Parses JSON with the zod schemas of the npm SDK, whose installation folder is the only argument.
// Reads lines of {profile, definition, input}. Writes a line of {ok, value} for each, or {missing} without such a schema.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const FILES = {
  v1: "v1/schema/zod.gen.js",
  v1_unstable: "v1/unstable/schema/zod.gen.js",
  v2_draft: "v2/schema/zod.gen.js",
  v2_draft_unstable: "v2/unstable/schema/zod.gen.js",
};

const dist = join(process.argv[2], "node_modules", "@agentclientprotocol", "sdk", "dist");
const schemas = {};
for (const [profile, file] of Object.entries(FILES)) {
  schemas[profile] = await import(pathToFileURL(join(dist, file)).href);
}

function parse({ profile, definition, input }) {
  const schema = schemas[profile][`z${definition}`];
  if (schema === undefined) {
    return { missing: true };
  }
  const result = schema.safeParse(input);
  return result.success ? { ok: true, value: result.data } : { ok: false };
}

const answers = [];
for await (const line of createInterface({ input: process.stdin })) {
  answers.push(JSON.stringify(parse(JSON.parse(line))));
}
process.stdout.write(answers.join("\n") + "\n");

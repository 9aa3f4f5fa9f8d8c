import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const packageOf = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;
const legalFile = /^(licen[cs]e|copying|notice|third-?party-?notices)(-\w+)?(\.\w+)?$/i;

// licenses collects the license of every package in the bundle into one file, as they ask for.
// Vite's own build.license leaves out what only a worker uses, and third-party notices.
export function licenses(fileName) {
  const packages = new Set();
  const add = (bundle) => {
    for (const { moduleIds = [] } of Object.values(bundle)) {
      for (const id of moduleIds) {
        const match = id.startsWith("\0") ? null : packageOf.exec(id);
        if (match) packages.add(match[0]);
      }
    }
  };
  const text = () => {
    const entries = [...packages].map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const files = readdirSync(folder).filter((file) => legalFile.test(file)).sort();
      const texts = files.map((file) => `\n${readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim()}\n`);
      return `## ${name} ${version} (${license})\n${texts.join("")}`;
    });
    return `# Licenses of the bundled packages\n\n${[...new Set(entries)].sort().join("\n")}`;
  };
  return {
    // Workers are bundled while the page is, so all of them are in before the page is written.
    worker: { name: "licenses:worker", generateBundle: (_, bundle) => add(bundle) },
    page: {
      name: "licenses:page",
      generateBundle(_, bundle) {
        add(bundle);
        this.emitFile({ type: "asset", fileName, source: text() });
      },
    },
  };
}

// SPDX-License-Identifier: MIT
//
// Writes the page as a site: node site.js <build/web> <folder> <sheaf> [base URL]. Every page is the page,
// with a start of its own, its picture in place until the library has loaded, and links to the others.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callText } from "../model/dialects.js";
import { PAGES } from "./pages.js";
import { writePictures } from "./pictures.js";

const [, , built, folder, sheaf, base = ""] = process.argv;

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
const meta = (kind, name, content) => `<meta ${kind}="${name}" content="${escaped(content)}">`;

// From a page that is `depth` folders down.
function navigation(depth) {
  const up = "../".repeat(depth);
  const groups = [...new Set(PAGES.map((page) => page.group))];
  const lists = groups.map((group) => `<section><h3>${group}</h3><ul>${PAGES.filter((page) => page.group === group)
    .map((page) => `<li><a href="${up}${page.path}">${escaped(page.label)}</a></li>`).join("")}</ul></section>`);
  return `<nav class="names card" aria-label="Every name"><h2><a href="${up || "./"}">Every name</a></h2><div>${lists.join("\n")}</div></nav>`;
}

// Addresses of other sites that show a preview have to be whole; without a base they are relative.
function head(page, size, up) {
  const address = base + page.path;
  const picture = base ? `${address}picture.png` : "picture.png";
  return [
    `<title>${escaped(page.title)}</title>`, meta("name", "description", page.description),
    meta("property", "og:type", "website"), meta("property", "og:site_name", "Sheaf"),
    meta("property", "og:title", page.title), meta("property", "og:description", page.description),
    meta("property", "og:image", picture), meta("property", "og:image:width", String(size.width * 2)),
    meta("property", "og:image:height", String(size.height * 2)), meta("property", "og:image:alt", page.description),
    meta("name", "twitter:card", "summary_large_image"),
    ...(base ? [meta("property", "og:url", address), `<link rel="canonical" href="${escaped(address)}">`] : []),
    meta("name", "sheaf-start", page.hash), meta("name", "sheaf-root", up),
  ].join("\n");
}

// `template` is index.html; `page` changes its head, its first picture and where its files are.
function written(template, page, size) {
  const depth = page.path.split("/").length - 1;
  const up = "../".repeat(depth);
  const [entry] = page.entries;
  const picture = `<img class="prerendered" src="picture.svg" width="${size.width}" height="${size.height}" alt="${escaped(page.description)}">`;
  return template
    .replace(/<title>.*<\/title>\n<meta name="description"[^>]*>/, () => head(page, size, up))
    .replace(/(href|src)="(icon\.svg|style\.css|parts\.css|sheaf\.js)"/g, (_, name, file) => `${name}="${up}${file}"`)
    .replace(/(<h2 id="call-text"[^>]*>)[^<]*/, (_, tag) => tag + escaped(entry ? callText(entry, { axis: "0", batch_dims: "0" }) : page.label))
    .replace('<div id="stage" class="stage" tabindex="-1">', (tag) => tag + picture)
    .replace("<footer", () => `${navigation(depth)}\n<footer`);
}

const template = readFileSync(join(built, "index.html"), "utf8");
mkdirSync(folder, { recursive: true });
for (const file of ["icon.svg", "style.css", "parts.css", "sheaf.js"]) cpSync(join(built, file), join(folder, file));
for (const page of PAGES) {
  const at = join(folder, page.path);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "index.html"), written(template, page, writePictures(sheaf, page, at)));
}

// The first page: itself, and the way to all others.
const front = {
  path: "", title: "Sheaf: which element goes where", entries: PAGES[0].entries, hash: "",
  description: template.match(/<meta name="description" content="([^"]*)"/)[1],
};
const [first] = PAGES;
for (const name of ["picture.svg", "picture.png"]) cpSync(join(folder, first.path, name), join(folder, name));
const [width, height] = ["width", "height"].map((name) => Number(readFileSync(join(folder, first.path, "index.html"), "utf8")
  .match(new RegExp(`class="prerendered"[^>]* ${name}="(\\d+)"`))[1]));
writeFileSync(join(folder, "index.html"), written(template, front, { width, height }));

const addresses = ["", ...PAGES.map((page) => page.path)].map((path) => `  <url><loc>${escaped(base + path || "./")}</loc></url>`);
writeFileSync(join(folder, "sitemap.xml"),
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${addresses.join("\n")}\n</urlset>\n`);
if (base) writeFileSync(join(folder, "robots.txt"), `User-agent: *\nAllow: /\nSitemap: ${base}sitemap.xml\n`);
console.log(`${PAGES.length + 1} pages`);

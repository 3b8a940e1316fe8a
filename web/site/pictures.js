// SPDX-License-Identifier: MIT
//
// The pictures of a page as files: SVG from the command line, two of them in one for a pair, and PNG by
// rsvg-convert, for previews of links.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";


function draw(sheaf, entry, problem, file) {
  // Under its own name, if it has one: the picture then says so.
  const named = entry ? problem.replace(/^\w+/, entry.slug) : problem;
  execFileSync(sheaf, ["explain", named, "--svg", file], { stdio: ["ignore", "ignore", "pipe"] });
  return readFileSync(file, "utf8");
}

const sizeOf = (svg) => ["width", "height"].map((name) => Number(svg.match(new RegExp(`<svg[^>]* ${name}="([\\d.]+)"`))[1]));

// One picture with the others in it, one below the other: previews are about twice as wide as high.
function stacked(pictures) {
  let height = 0;
  const parts = pictures.map((svg) => {
    const placed = svg.replace("<svg ", `<svg x="0" y="${height}" `);
    height += sizeOf(svg)[1];
    return placed;
  });
  const width = Math.max(...pictures.map((svg) => sizeOf(svg)[0]));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">\n${parts.join("\n")}</svg>\n`;
}

// Writes picture.svg and picture.png into `folder`; {width, height} of the first.
export function writePictures(sheaf, page, folder) {
  const file = join(folder, "picture.svg");
  const drawn = page.problems.map((problem, i) => draw(sheaf, page.entries[i], problem, file));
  const svg = drawn.length === 1 ? drawn[0] : stacked(drawn);
  writeFileSync(file, svg);
  execFileSync("rsvg-convert", ["--zoom", "2", "--background-color", "white", "-o", join(folder, "picture.png"), file]);
  const [width, height] = sizeOf(svg);
  return { width: Math.ceil(width), height: Math.ceil(height) };
}

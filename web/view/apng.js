// SPDX-License-Identifier: MIT
//
// Pictures of the same size as one animated PNG: the chunks of each, in APNG's frames.

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function crc(bytes) {
  let c = 0xffffffff;
  for (const byte of bytes) c = TABLE[(c ^ byte) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

const be32 = (value) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
const be16 = (value) => [value >>> 8, value & 255];
const ascii = (text) => [...text].map((c) => c.charCodeAt(0));

// Length, type, content, checksum of type and content.
function chunk(type, content) {
  const body = new Uint8Array(4 + content.length);
  body.set(ascii(type));
  body.set(content, 4);
  const whole = new Uint8Array(body.length + 8);
  whole.set(be32(content.length));
  whole.set(body, 4);
  whole.set(be32(crc(body)), 4 + body.length);
  return whole;
}

function* chunksOf(png) {
  const view = new DataView(png.buffer, png.byteOffset);
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = view.getUint32(at);
    yield { type: String.fromCharCode(...png.subarray(at + 4, at + 8)), content: png.subarray(at + 8, at + 8 + length) };
    at += 12 + length;
  }
}

const contentOf = (png, type) => [...chunksOf(png)].filter((each) => each.type === type).map((each) => each.content);

// `frames`: [{png: Uint8Array, ms}], all of one size and kind. Repeats for ever.
export function animatedPng(frames) {
  const [header] = contentOf(frames[0].png, "IHDR");
  const parts = [Uint8Array.from(SIGNATURE), chunk("IHDR", header), chunk("acTL", [...be32(frames.length), ...be32(0)])];
  let sequence = 0;
  frames.forEach(({ png, ms }, number) => {
    const [own] = contentOf(png, "IHDR");
    if (own.some((byte, i) => byte !== header[i])) throw new Error("frames differ in size or kind");
    const size = [...header.subarray(0, 8)];
    parts.push(chunk("fcTL", [...be32(sequence++), ...size, ...be32(0), ...be32(0), ...be16(ms), ...be16(1000), 0, 0]));
    for (const data of contentOf(png, "IDAT")) {
      if (number === 0) parts.push(chunk("IDAT", data));
      else {
        const numbered = new Uint8Array(4 + data.length);
        numbered.set(be32(sequence++));
        numbered.set(data, 4);
        parts.push(chunk("fdAT", numbered));
      }
    }
  });
  parts.push(chunk("IEND", []));
  return new Blob(parts, { type: "image/png" });
}

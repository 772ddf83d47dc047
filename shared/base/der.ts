export const SEQUENCE = 0x30;
const INTEGER = 0x02;

/** Encodes an element (X.690 section 8.1) with the shortest form of its length, up to 65,535. */
export function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const short = [length];
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...(length < 0x80 ? short : long)), content]);
}

/**
 * Encodes a positive INTEGER (X.690 section 8.3) in its shortest form, with a zero in front if the first bit is set.
 */
export function integer(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const magnitude = bytes.subarray(start);
  return (magnitude[0] ?? 0) < 0x80
    ? der(INTEGER, magnitude)
    : der(INTEGER, Buffer.of(0), magnitude);
}

const HALF = 32;

/**
 * Converts R || S (RFC 7518 section 3.4) to the DER of `ECDSA-Sig-Value` (RFC 3279 section 2.2.3), which
 * `crypto.verify` accepts with a bare key. Returns undefined unless the signature has exactly 64 octets.
 */
export function es256ToDer(signature: Buffer): Buffer | undefined {
  if (signature.length !== 2 * HALF) return undefined;
  const [r, s] = [signature.subarray(0, HALF), signature.subarray(HALF)];
  return der(SEQUENCE, integer(r), integer(s));
}

export interface Element {
  /** The identifier octet: class, form and a number below 31. */
  readonly tag: number;
  readonly content: Buffer;
}

/** Returns the first element in `bytes`, and the bytes after it. */
function readElement(bytes: Buffer): { element: Element; rest: Buffer } | undefined {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  const more = first < 0x80 ? 0 : first - 0x80;
  if (first === 0x80 || more > 3 || bytes.length < 2 + more) return undefined;
  const length = more === 0 ? first : bytes.readUIntBE(2, more);
  const start = 2 + more;
  if (bytes.length < start + length) return undefined;
  return {
    element: { tag, content: bytes.subarray(start, start + length) },
    rest: bytes.subarray(start + length),
  };
}

/** Most elements in one list: a client lists about four mechanisms, and a request has fewer members. */
const MOST = 64;

/**
 * Returns the elements that `bytes` consists of (X.690 section 8.1, definite lengths below 16 MiB), at most 64.
 * Returns undefined if the last element is truncated, or if the bytes are no list of elements.
 */
export function readElements(bytes: Buffer): Element[] | undefined {
  const elements: Element[] = [];
  let left = bytes;
  while (left.length > 0) {
    const read = readElement(left);
    if (read === undefined || elements.length === MOST) return undefined;
    elements.push(read.element);
    left = read.rest;
  }
  return elements;
}

/** Returns the content if `bytes` is exactly one element with this tag. */
export function elementContent(bytes: Buffer | undefined, tag: number): Buffer | undefined {
  const [only, another] = (bytes && readElements(bytes)) ?? [];
  return only?.tag === tag && another === undefined ? only.content : undefined;
}

/**
 * Returns the members by tag if `bytes` is exactly one SEQUENCE; undefined also if the tags are not in ascending
 * order.
 */
export function membersOf(bytes: Buffer | undefined): ReadonlyMap<number, Buffer> | undefined {
  const content = elementContent(bytes, SEQUENCE);
  const elements = content && readElements(content);
  if (elements?.some(({ tag }, index) => tag <= (elements[index - 1]?.tag ?? -1))) return undefined;
  return elements && new Map(elements.map(({ tag, content: member }) => [tag, member]));
}

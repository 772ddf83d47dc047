import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { lines, plainMembers } from '#shared/http/fields.ts';
import { demandsOf } from './demands.ts';

/** The most octets of decoded content. Content that expands to more stays coded. */
const LONGEST = 1_048_576;
/** The most codings that are removed. Decoding blocks the event loop. */
const CODINGS = 2;

interface Decoded {
  readonly buffer: Buffer;
  /** `bytesWritten`: the number of octets that the decoder consumed. */
  readonly engine: { readonly bytesWritten: number };
}

type Decoder = (content: Buffer, options: { maxOutputLength: number; info: true }) => Decoded;

/** With `info`, zlib returns more than its types declare. */
const DECODERS: ReadonlyMap<string, Decoder> = new Map(
  Object.entries({
    gzip: gunzipOne,
    'x-gzip': gunzipOne,
    deflate: inflateSync,
    br: brotliDecompressSync,
  }) as unknown as [string, Decoder][],
);

/** Fields that describe content besides its type and coding (RFC 9110 sections 8.5 and 8.7). */
const OTHER_METADATA = ['content-language', 'content-location'];

/**
 * Returns a digest of a QUERY's content and the fields that describe it (RFC 10008 section 2.7): type, codings,
 * language and location. Contents that differ only in their codings have the same digest, unless the client says
 * `no-transform`.
 */
export function queryDigest(content: Buffer, rawHeaders: readonly string[]): string {
  const literal = demandsOf(rawHeaders)?.flags.has('no-transform') === true;
  const codings = tokens(lines(rawHeaders, 'content-encoding'));
  const decoded = literal ? undefined : withoutCodings(content, codings);
  const types = lines(rawHeaders, 'content-type');
  const described = [
    literal,
    types.map((type) => (literal ? type : normalisedType(type))),
    decoded === undefined ? codings : [],
    ...OTHER_METADATA.map((name) => lines(rawHeaders, name)),
  ];
  return createHash('sha256')
    .update(`${JSON.stringify(described)}\n`)
    .update(decoded ?? content)
    .digest('base64url');
}

/** Undefined: a coding is unknown, malformed, or expands too much, or the codings are too many. */
function withoutCodings(content: Buffer, codings: readonly string[]): Buffer | undefined {
  if (codings.length > CODINGS) return undefined;
  let decoded: Buffer | undefined = content;
  for (const coding of codings.toReversed()) {
    const decoder = DECODERS.get(coding);
    decoded = decoded && decoder && decode(decoded, decoder);
  }
  return decoded;
}

/**
 * Decodes gzip content with a single member and no options: some programs read only the first member (RFC 1952 section
 * 2.2).
 */
function gunzipOne(content: Buffer, options: { maxOutputLength: number }): unknown {
  const whole = gunzipSync(content, options); // verifies the checksum
  const member = content.subarray(MEMBER.head, -MEMBER.end);
  // The types of zlib leave out the result of `info`.
  const { engine } = inflateRawSync(member, { ...options, info: true }) as unknown as Decoded;
  if (content[3] !== 0 || engine.bytesWritten !== member.length) throw new Error('several members');
  return whole;
}

/** Octets of header and trailer around the compressed data (RFC 1952 section 2.3). */
const MEMBER = { head: 10, end: 8 };

function decode(content: Buffer, decoder: Decoder): Buffer | undefined {
  try {
    const { buffer, engine } = decoder(content, { maxOutputLength: LONGEST, info: true });
    // Some programs ignore octets after the end, and others read them, so such content stays coded.
    return engine.bytesWritten === content.length ? buffer : undefined;
  } catch {
    return undefined;
  }
}

const tokens = (values: readonly string[]) =>
  values.flatMap((value) => plainMembers(value.toLowerCase()));

/**
 * Type and parameter names are case-insensitive, and white space around them has no meaning, except within quotes (RFC
 * 9110 section 8.3.1).
 */
function normalisedType(type: string): string {
  return type
    .trim()
    .replace(/^[^;"]*/, (name) => name.trim().toLowerCase())
    .replaceAll(PARAMETER, (whole, name?: string) =>
      name === undefined ? whole : `;${name.toLowerCase()}=`,
    );
}

/** A parameter name, or a quoted string, even without its end. */
const PARAMETER = /"(?:[^"\\]|\\.)*"?|(?<![ \t])[ \t]*;[ \t]*([^=;"\s][^=;"]*)=/g;

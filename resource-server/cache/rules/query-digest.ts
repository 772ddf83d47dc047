import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { lines, plainMembers } from '#shared/http/fields.ts';
import { demandsOf } from './demands.ts';

/** Octets of content without its codings; beyond it stays coded. */
const LONGEST = 1_048_576;
/** Codings that are removed; each takes time in which nobody else is served. */
const CODINGS = 2;

interface Decoded {
  readonly buffer: Buffer;
  /** `bytesWritten`: octets that were read of what came. */
  readonly engine: { readonly bytesWritten: number };
}

type Decoder = (content: Buffer, options: { maxOutputLength: number; info: true }) => Decoded;

/** With `info` they return more than their types say. */
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
 * Names a QUERY's content and what describes it (RFC 10008 section 2.7): type, codings, language and location. The
 * same for content that differs in its codings alone, unless the client says `no-transform`.
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

/** Undefined: a coding is unknown, malformed or expands to too much, or there are too many. */
function withoutCodings(content: Buffer, codings: readonly string[]): Buffer | undefined {
  if (codings.length > CODINGS) return undefined;
  let decoded: Buffer | undefined = content;
  for (const coding of codings.toReversed()) {
    const decoder = DECODERS.get(coding);
    decoded = decoded && decoder && decode(decoded, decoder);
  }
  return decoded;
}

/** Unpacks content of one member without options: some programs read only the first (RFC 1952 section 2.2). */
function gunzipOne(content: Buffer, options: { maxOutputLength: number }): unknown {
  const whole = gunzipSync(content, options); // checks its sum
  const member = content.subarray(MEMBER.head, -MEMBER.end);
  // As above: its type leaves out what `info` adds.
  const { engine } = inflateRawSync(member, { ...options, info: true }) as unknown as Decoded;
  if (content[3] !== 0 || engine.bytesWritten !== member.length) throw new Error('several members');
  return whole;
}

/** Octets around what is compressed (RFC 1952 section 2.3). */
const MEMBER = { head: 10, end: 8 };

function decode(content: Buffer, decoder: Decoder): Buffer | undefined {
  try {
    const { buffer, engine } = decoder(content, { maxOutputLength: LONGEST, info: true });
    // Octets after the end mean nothing to some readers, and something to others.
    return engine.bytesWritten === content.length ? buffer : undefined;
  } catch {
    return undefined;
  }
}

const tokens = (values: readonly string[]) =>
  values.flatMap((value) => plainMembers(value.toLowerCase()));

/**
 * Type and names of parameters have no case, and white space around them means nothing (RFC 9110 section 8.3.1), but
 * within quotes.
 */
function normalisedType(type: string): string {
  return type
    .trim()
    .replace(/^[^;"]*/, (name) => name.trim().toLowerCase())
    .replaceAll(PARAMETER, (whole, name?: string) =>
      name === undefined ? whole : `;${name.toLowerCase()}=`,
    );
}

/** Or a quoted string, be it open. */
const PARAMETER = /"(?:[^"\\]|\\.)*"?|(?<![ \t])[ \t]*;[ \t]*([^=;"\s][^=;"]*)=/g;

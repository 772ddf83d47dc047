import type { Clock } from '#shared/base/clock.ts';
import { explainBase64Text } from './base64-text.ts';
import { explainCacheStatus } from './cache-status.ts';
import { checksOf, type Step } from './checks.ts';
import { explainChallenges, explainInfo } from './challenge.ts';
import { explainCredentials } from './credentials.ts';
import {
  bounded,
  type Explained,
  type KeyOf,
  LONGEST_TEXT,
  type Surroundings,
} from './explained.ts';
import { explainIf } from './if-field.ts';
import { own } from './own.ts';
import { dividedAnswer, isAnswer, isRequest, type Pasted, readPasted } from './pasted.ts';
import { parseRawRequest, type RawRequest } from './raw-request.ts';
import { explainApiKey } from './schemes/api-key.ts';
import { explainDpopProof } from './schemes/dpop-proof.ts';
import { explainJwt } from './schemes/json-web-token.ts';
import { explainSigned } from './signature-field.ts';
import { Unreadable } from './unreadable.ts';
import { isObject } from '#shared/jose/compact-jws.ts';
import { jsonDepth } from './json-depth.ts';
import { JWT, readJwt } from './schemes/jwt.ts';

/** The most items in one text that are explained. */
const MOST = 16;

type Reader = (value: string, surroundings: Surroundings) => readonly Explained[];

const credentials: Reader = (value, surroundings) => [explainCredentials(value, surroundings)];
const info: Reader = (value) => [explainInfo(value)];

/** The fields that can be explained, by their name in lower case, and tokens without a field. */
const READERS: Readonly<Record<string, Reader>> = {
  authorization: credentials,
  'proxy-authorization': credentials,
  'www-authenticate': explainChallenges,
  'proxy-authenticate': explainChallenges,
  'authentication-info': info,
  'proxy-authentication-info': info,
  dpop: (value, surroundings) => [explainDpopProof(value, surroundings)],
  'cache-status': (value) => [explainCacheStatus(value)],
  if: (value) => [explainIf(value)],
  'x-api-key': (value) => [explainApiKey(value)],
  'api-key': (value) => [explainApiKey(value)],
  base64: (value) => [explainBase64Text(value)],
  jwt: (value, surroundings) => [explainJwt(value, surroundings)],
};

/**
 * Explains a token, a proof, a challenge, credentials, a field, or all of them in a request: their parts, and the
 * checks of a server. It needs no store and no network, and its work is linear in the text. Throws `Unreadable` if
 * the text is too long, or has nothing that can be explained. Without `keyOf`, signatures of access tokens stay open.
 */
export function explain(text: string, clock: Clock, keyOf?: KeyOf): readonly Explained[] {
  const octets = Buffer.from(text.trimStart());
  if (octets.length > LONGEST_TEXT) {
    throw new Unreadable(`The text is longer than ${LONGEST_TEXT} bytes.`);
  }
  // Fields are read as node:http reads them: each character is an octet.
  const messages = messagesIn(octets.toString('latin1'));
  const explained = messages.flatMap((message) => explainMessage(message, { clock, keyOf }));
  if (explained.length === 0) throw new Unreadable(nothingIn(text));
  return bounded(explained.slice(0, MOST).map(readable));
}

/** Fields that can be explained only with the whole request. */
const SIGNED: ReadonlySet<string> = new Set(['signature', 'signature-input', 'content-digest']);

const nothingIn = (text: string): string =>
  /^signature(?:-input)?:/im.test(text)
    ? 'This text cannot be explained: for a signature, paste the whole request with its first line.'
    : 'This text cannot be explained: it has no credentials, challenge, token, proof, Cache-Status or If field.';

function explainMessage(text: string, surroundings: Surroundings): readonly Explained[] {
  if (isRequest(text))
    return explainRequest(parseRawRequest(Buffer.from(text, 'latin1'), undefined), surroundings);
  if (text.startsWith('{')) return explainFields(tokensIn(text), surroundings);
  if (!isAnswer(text)) return explainFields(readPasted(text), surroundings);
  const { head, content } = dividedAnswer(text);
  const fields = head === '' ? [] : readPasted(head);
  return explainFields([...fields, ...tokensIn(content)], surroundings);
}

/** Explains the fields that it can, and names the others if it explained at least one. */
function explainFields(
  fields: readonly Pasted[],
  surroundings: Surroundings,
  more: readonly Explained[] = [],
): readonly Explained[] {
  const known = fields.filter(({ name }) => own(READERS, name) !== undefined);
  const explained = [
    ...known
      .slice(0, MOST)
      .flatMap(({ name, value }) => own(READERS, name)?.(value, surroundings) ?? []),
    ...more,
  ];
  return explained.length === 0 ? [] : [...explained, ...othersOf(fields, more)];
}

/** Returns the names of fields that are not explained, so that no reader thinks they were checked. */
function othersOf(fields: readonly Pasted[], signed: readonly Explained[]): readonly Explained[] {
  const names = fields
    .map(({ name }) => name)
    .filter((name) => own(READERS, name) === undefined)
    .filter((name) => signed.length === 0 || !SIGNED.has(name));
  if (names.length === 0) return [];
  const value = [...new Set(names)].join(', ');
  const parts = [{ name: 'not explained here', value }];
  return [{ what: 'Other fields', standard: 'RFC 9110 section 5', parts, checks: [] }];
}

const TARGET_STEP: Step = {
  name: 'target',
  check: 'The first line and the field Host name the address.',
  section: 'RFC 9112 section 3.3',
};

function explainRequest(request: RawRequest, given: Surroundings): readonly Explained[] {
  const { flaw, content, fields } = request;
  const { method, requestTarget, targetUri, lines } = request.message;
  const [, accessToken] = /^DPoP +(\S+)$/i.exec(lines('authorization')[0] ?? '') ?? [];
  const address = flaw === undefined ? targetUri : undefined;
  const around = { method, target: requestTarget, targetUri: address, accessToken };
  const surroundings: Surroundings = { ...given, request: around };
  const pasted = fields.map(([name, value]) => ({ name, value }));
  const within = tokensIn(content.toString('latin1'));
  if (flaw === undefined) {
    return explainFields(
      [...pasted, ...within],
      surroundings,
      explainSigned(request, surroundings),
    );
  }
  const checks = checksOf([TARGET_STEP], { reason: flaw });
  return [
    { what: 'Request', standard: 'RFC 9112 section 3', parts: [], checks },
    ...explainFields([...pasted, ...within], surroundings),
  ];
}

/** Turns octets back into the characters that they encode. */
function readable(explained: Explained): Explained {
  const parts = explained.parts.map((part) => ({
    ...part,
    name: inUtf8(part.name),
    value: inUtf8(part.value),
  }));
  return { ...explained, parts };
}

/** Returns the text of octets, or the text itself if it has other characters than octets. */
function inUtf8(text: string): string {
  if (/[^\0-\xff]/.test(text)) return text;
  const decoded = Buffer.from(text, 'latin1').toString();
  return decoded.includes('\ufffd') ? text : decoded;
}

/** The deepest level of JSON that is read: an answer of GNAP has its token in an object, or in a list of objects. */
const DEEPEST = 16;

/** Returns the JWTs among the members of a form or of JSON, such as the answer with a token (RFC 6749 section 5.1). */
export function tokensIn(content: string): readonly Pasted[] {
  const values = content.startsWith('{')
    ? valuesOf(content)
    : new URLSearchParams(content).values();
  return [...values]
    .filter((value) => JWT.test(value) && readJwt(value).header !== undefined)
    .map((value) => ({ name: 'jwt', value }));
}

function valuesOf(json: string): readonly string[] {
  if (jsonDepth(json) > DEEPEST) return [];
  try {
    const object: unknown = JSON.parse(json);
    return isObject(object) ? Object.values(object).flatMap(textsOf) : [];
  } catch {
    return [];
  }
}

/** Returns the text of a member, or the `value` of each GNAP token (RFC 9635 section 3.2). */
function textsOf(member: unknown): readonly string[] {
  return [member].flat().flatMap((one: unknown) => {
    const text = isObject(one) ? one['value'] : one;
    return typeof text === 'string' ? text : [];
  });
}

/** Matches a line of curl's output: a mark for the direction, and the line itself. */
const MARKED = /^[<>] ?(.*)$/;

/** Matches the first line of a request or an answer (RFC 9112 section 2.1). */
const FIRST = /^(?:[A-Z]+ \S+ HTTP\/\d|HTTP\/\d\S* \d{3}\b)/;

/** Matches a JSON answer on one line. curl may append a line of its own. */
const JSON_LINE = /^(\{".*\})(?:\* .*)?$/;

/**
 * Returns the messages in the output of `curl -v`, without their contents, and JSON on a line of its own. Any other
 * text is one message.
 */
export function messagesIn(text: string): readonly string[] {
  const all = text.split(/\r?\n/);
  const lines = all.flatMap((line) => MARKED.exec(line)?.[1] ?? []);
  const starts = lines.flatMap((line, at) => (FIRST.test(line) ? at : []));
  if (starts.length === 0) return [text];
  const messages = starts.map((at, index) => `${lines.slice(at, starts[index + 1]).join('\n')}\n`);
  return [...messages, ...all.flatMap((line) => JSON_LINE.exec(line)?.[1] ?? [])];
}

import type { Clock } from '#shared/base/clock.ts';
import { explainBase64Text } from './base64-text.ts';
import { explainCacheStatus } from './cache-status.ts';
import { explainChallenges, explainInfo } from './challenge.ts';
import { explainCredentials } from './credentials.ts';
import { bounded, type Explained, LONGEST_TEXT, type Surroundings } from './explained.ts';
import { explainIf } from './if-field.ts';
import { own } from './own.ts';
import { fieldsOf, isRequest, type Pasted, readPasted } from './pasted.ts';
import { parseRawRequest, type RawRequest } from './raw-request.ts';
import { explainApiKey } from './schemes/api-key.ts';
import { explainDpopProof } from './schemes/dpop-proof.ts';
import { explainJwt } from './schemes/json-web-token.ts';
import { explainSigned } from './signature-field.ts';
import { Unreadable } from './unreadable.ts';

/** Things that are explained of one text. */
const MOST = 16;

type Reader = (value: string, surroundings: Surroundings) => readonly Explained[];

const credentials: Reader = (value, surroundings) => [explainCredentials(value, surroundings)];
const info: Reader = (value) => [explainInfo(value)];

/** The fields that are explained, by their name in lower case, and tokens without a field. */
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
 * Explains a token, a proof, a challenge, credentials, a field, or all of them in a request: their parts, and what a
 * server would check. It needs no store and no network, and its work is linear in the text. Throws `Unreadable` if the
 * text is too long, or nothing that is explained.
 */
export function explain(text: string, clock: Clock): readonly Explained[] {
  const octets = Buffer.from(text.trimStart());
  if (octets.length > LONGEST_TEXT) {
    throw new Unreadable(`The text is longer than ${LONGEST_TEXT} bytes.`);
  }
  // As node:http has fields: each character is an octet.
  const characters = octets.toString('latin1');
  const explained = isRequest(characters)
    ? explainRequest(parseRawRequest(octets, undefined), clock)
    : explainFields(readPasted(fieldsOf(characters)), { clock });
  if (explained.length === 0) {
    throw new Unreadable(
      'No field of this is explained. A signature needs its whole request, with the first line.',
    );
  }
  return bounded(explained.slice(0, MOST).map(readable));
}

function explainFields(
  fields: readonly Pasted[],
  surroundings: Surroundings,
): readonly Explained[] {
  return fields.slice(0, MOST).flatMap(({ name, value }) => {
    const reader = own(READERS, name);
    return reader?.(value, surroundings) ?? [];
  });
}

function explainRequest(request: RawRequest, clock: Clock): readonly Explained[] {
  const { method, requestTarget, targetUri, lines } = request.message;
  const [, accessToken] = /^DPoP +(\S+)$/i.exec(lines('authorization')[0] ?? '') ?? [];
  const around = { method, target: requestTarget, targetUri, accessToken };
  const surroundings: Surroundings = { clock, request: around };
  const fields = Object.keys(READERS).flatMap((name) =>
    lines(name).map((value) => ({ name, value })),
  );
  return [...explainFields(fields, surroundings), ...explainSigned(request, surroundings)];
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

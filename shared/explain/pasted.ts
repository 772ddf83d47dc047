import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { isApiKeyLike } from '#shared/people/api-key.ts';
import { isBase64Text } from './base64-text.ts';
import { isScheme } from './credentials.ts';
import { JWT } from './schemes/jwt.ts';
import { Unreadable } from './unreadable.ts';

/**
 * A field by its name in lower case. A token or key without a field has an artificial name: `jwt`, `api-key`,
 * `base64`.
 */
export interface Pasted {
  readonly name: string;
  readonly value: string;
}

/** Matches the line of a field (RFC 9112 section 5). */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/;

/** Matches the first line of a request (RFC 9112 section 3). */
const REQUEST = /^[A-Z]+ \S+ HTTP\/\d/;

/** Parameters that only credentials have; most others occur in challenges and credentials of a scheme alike. */
const OF_CREDENTIALS: readonly string[] = [
  'username',
  'username*',
  'response',
  'data',
  'user',
  'kc1',
  'vkc',
  'p',
];

/** Checks for the form of a text without its field's name, tried in this order. */
const FORMS: readonly (readonly [name: string, is: (text: string) => boolean])[] = [
  ['api-key', (text) => isApiKeyLike(text) && !/\s/.test(text)],
  ['if', (text) => /^[(<]/.test(text)],
  ['cache-status', (text) => /;[ ]*(?:hit|fwd)\b/.test(text)],
  ['www-authenticate', isChallenge],
  ['authorization', (text) => isScheme(text.split(' ', 1)[0] ?? '')],
  ['base64', isBase64Text],
];

/** Matches the first line of an answer (RFC 9112 section 4). */
const ANSWER = /^HTTP\/\d\S* \d{3}\b.*(?:\r?\n|$)/;

/** True for a text that is a whole answer. */
export const isAnswer = (text: string): boolean => ANSWER.test(text);

/** Divides an answer into the lines of its fields, and its content. */
export function dividedAnswer(text: string): { readonly head: string; readonly content: string } {
  const rest = text.replace(ANSWER, '');
  const [head = ''] = rest.split(/(?:^|\r?\n)\r?\n/, 1);
  return { head, content: rest.slice(head.length).trimStart() };
}

/** True for a text that is a whole request. */
export const isRequest = (text: string): boolean => REQUEST.test(text);

/**
 * Recognizes a text: the lines of fields, or the value of one without its name. A value may be broken into lines.
 * Throws `Unreadable` if the text has no form that can be explained.
 */
export function readPasted(text: string): readonly Pasted[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const fields: { readonly name: string; readonly lines: string[] }[] = [];
  for (const line of lines) {
    const [, name, value = ''] = FIELD.exec(line) ?? [];
    if (name !== undefined) fields.push({ name: name.toLowerCase(), lines: [value] });
    else if (fields.length === 0) return [withoutName(lines)];
    else fields.at(-1)?.lines.push(line);
  }
  return fields.map((field) => ({ name: field.name, value: field.lines.join(' ').trim() }));
}

function withoutName(lines: readonly string[]): Pasted {
  const joined = lines.join('');
  if (JWT.test(joined)) return { name: 'jwt', value: joined };
  const value = lines.join(' ').trim();
  const [name] = FORMS.find(([, is]) => is(value)) ?? [];
  if (name !== undefined) return { name, value };
  throw new Unreadable(
    'This kind of text is unknown. Paste a token (alone or in JSON), a request, an answer, the output of curl -v, or fields. If you paste the value of a field, put its name in front, such as "Authorization: ".',
  );
}

function isChallenge(text: string): boolean {
  const [first, another] = parseChallenges(text) ?? [];
  if (first === undefined || !isScheme(first.scheme)) return false;
  if (another !== undefined) return true;
  const { params = {} } = first;
  const asked = 'realm' in params || 'challenge' in params || 'nonce' in params;
  const shown = parseCredentials(text)?.params ?? {};
  return asked && !OF_CREDENTIALS.some((name) => name in shown);
}

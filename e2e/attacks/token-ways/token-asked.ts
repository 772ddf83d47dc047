/**
 * Random token requests, the same for the same seed: valid requests of machines, and wrong requests of
 * faulty clients or attackers.
 */
import type { CryptoKey } from 'jose';
import { type Dice, pick } from '../dice.ts';

/** A client, and how it authenticates. */
export interface Machine {
  readonly id: string;
  readonly shows:
    | { readonly by: 'secret'; readonly secret: string }
    | { readonly by: 'assertion'; readonly key: CryptoKey }
    | { readonly by: 'nothing' };
}

export interface TokenAsked {
  readonly target: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly form: readonly (readonly [name: string, value: string])[];
  /** Sent in place of the form. */
  readonly content?: string;
  /** How the content is sent: with its length, in chunks, or after the fields. */
  readonly sent: 'whole' | 'chunked' | 'in two';
  /** The client that signs an assertion. `claims` replace valid claims. */
  readonly assertion?: { readonly machine: Machine; readonly claims: Claims };
  /** A DPoP proof, whose `claims` replace valid claims; `twice`: the proof was used before. */
  readonly proof?: { readonly claims: Claims; readonly nonce: boolean; readonly twice: boolean };
}

export type Claims = Readonly<Record<string, unknown>>;
type Pair = readonly [name: string, value: string];

const SCOPES = [
  'documents:read',
  'documents:read documents:write',
  'documents:read documents:read',
  'app:read',
  'documents:read app:read',
  'openid',
  'documents:read openid',
  'offline_access documents:read',
  'unknown',
  'documents:read unknown',
  '',
  ' ',
  'documents:read ',
  'documents:read  app:read',
  '"',
  'documents:read\t',
  'dökument',
  '__proto__',
] as const;
const TYPES = [
  'application/x-www-form-urlencoded;charset=UTF-8',
  'application/x-www-form-urlencoded; charset=utf-8',
  'application/x-www-form-urlencoded; charset=iso-8859-1',
  'application/x-www-form-urlencoded; charset=nonsense',
  'Application/X-WWW-Form-Urlencoded',
  'application/json',
  'text/plain',
  'multipart/form-data; boundary=x',
  '',
] as const;
const GRANTS = [
  'client_credentials ',
  'CLIENT_CREDENTIALS',
  'authorization_code',
  'refresh_token',
  'password',
  'urn:ietf:params:oauth:grant-type:device_code',
  'implicit',
  '',
] as const;
const RARE_PARAMETERS: readonly Pair[] = [
  ['audience', 'x'],
  ['authorization_details', '[]'],
  ['client_assertion', 'a.b.c'],
  ['client_assertion_type', 'x'],
  ['client_id', 'nobody'],
  ['client_secret', 'x'],
  ['code', 'x'],
  ['grant_type', 'client_credentials'],
  ['refresh_token', 'x'],
  ['resource', 'x'],
  ['scope', 'documents:read'],
  ['toString', 'x'],
  ['__proto__', 'x'],
  ['', 'x'],
  ['\u{feff}grant_type', 'x'],
];
const RARE_FIELDS: readonly Pair[] = [
  ['Accept', 'text/html'],
  ['Accept', 'application/json;q=0'],
  ['Connection', 'close'],
  ['Content-Encoding', 'gzip'],
  ['Content-Encoding', 'identity'],
  ['Expect', '100-continue'],
  ['Host', 'evil.example'],
  ['OAuth-Client-Attestation', 'x'],
  ['OAuth-Client-Attestation-PoP', 'x'],
  ['Origin', 'https://pages.example'],
  ['Origin', 'null'],
  ['Origin', ''],
  ['Proxy-Authorization', 'Basic YTpi'],
  ['Transfer-Encoding', 'identity'],
  ['X-Forwarded-For', '192.0.2.7'],
  ['X-Forwarded-Host', 'evil.example'],
  ['X-Forwarded-Proto', 'gopher'],
];
const TARGETS = ['/token?', '/token?scope=app:read', '/%74oken', '/token/', '//token'] as const;
const AUTHORIZATIONS = [
  '',
  'Basic',
  'Basic ',
  'Basic !',
  'Basic YTpi=',
  'Basic YTpi YTpi',
  'Basic  YTpi',
  'Basic OmI=',
  'Basic YTo=',
  'Bearer YTpi',
  'basic YTpi',
] as const;
const CLAIMS: readonly [Claims, ...Claims[]] = [
  { exp: 1 },
  { aud: 'https://elsewhere.example' },
  { iss: 'nobody' },
  { sub: 'nobody' },
  { jti: undefined },
];
const PROOF_CLAIMS: readonly [Claims, ...Claims[]] = [
  { htm: 'GET' },
  { htu: 'https://elsewhere.example/token' },
  { iat: 1 },
  { jti: '' },
  { nonce: 'x' },
];

/** Makes one token request; most of its parts are valid. */
export function tokenAsked(
  roll: Dice,
  host: string,
  machines: readonly [Machine, ...Machine[]],
  resources: readonly [string, ...string[]],
): TokenAsked {
  const machine = pick(roll, machines);
  const once = (of: number) => roll(of) === 0;
  const form: Pair[] = [['grant_type', once(12) ? pick(roll, GRANTS) : 'client_credentials']];
  if (once(2)) form.push(['scope', once(2) ? 'documents:read' : pick(roll, SCOPES)]);
  if (once(4)) form.push(['resource', pick(roll, resources)]);
  if (once(12)) form.push(pick(roll, RARE_PARAMETERS as readonly [Pair, ...Pair[]]));
  const fields: Pair[] = [];
  const given = identify(roll, machine, fields, form);
  if (once(20)) form.splice(roll(form.length), 1);
  if (once(20)) form.push(form[roll(form.length)] ?? ['a', 'b']);
  if (once(3)) form.reverse();
  const rare = once(6) ? [pick(roll, RARE_FIELDS as readonly [Pair, ...Pair[]])] : [];
  const type = once(6) ? pick(roll, TYPES) : 'application/x-www-form-urlencoded';
  if (type !== '') fields.push(['Content-Type', type]);
  if (!rare.some(([name]) => name === 'Host') || once(2)) fields.unshift(['Host', host]);
  return {
    target: once(30) ? pick(roll, TARGETS) : '/token',
    fields: [...fields, ...rare],
    form,
    sent: once(10) ? pick(roll, ['chunked', 'in two']) : 'whole',
    ...(once(40) && { content: pick(roll, CONTENTS) }),
    ...given,
    ...(once(6) && {
      proof: {
        claims: once(3) ? pick(roll, PROOF_CLAIMS) : {},
        nonce: once(2),
        twice: once(4),
      },
    }),
  };
}

const CONTENTS = [
  '',
  '&',
  '=',
  '%',
  'grant_type',
  'grant_type=client_credentials&scope=%zz',
  'grant_type=client%5Fcredentials',
  'grant%5Ftype=client_credentials',
  'grant_type=client_credentials;scope=app:read',
  'grant_type=client_credentials&&&',
  'grant_type=client_credentials\r\n',
  '\u{feff}grant_type=client_credentials',
  '{"grant_type":"client_credentials"}',
  `grant_type=client_credentials&scope=${'a'.repeat(5000)}`,
  `grant_type=client_credentials${'&a=b'.repeat(1100)}`,
] as const;

/** Adds the client's authentication, sometimes wrong or doubled. */
function identify(
  roll: Dice,
  machine: Machine,
  fields: Pair[],
  form: Pair[],
): Pick<TokenAsked, 'assertion'> {
  const { id, shows } = machine;
  if (roll(25) === 0) fields.push(['Authorization', pick(roll, AUTHORIZATIONS)]);
  if (shows.by === 'nothing') {
    form.push(['client_id', id]);
    return {};
  }
  if (shows.by === 'assertion') {
    if (roll(4) === 0) form.push(['client_id', id]);
    return { assertion: { machine, claims: roll(4) === 0 ? pick(roll, CLAIMS) : {} } };
  }
  const wrong = [`${shows.secret}x`, shows.secret.slice(1), `%${shows.secret}`, ''] as const;
  const secret = roll(6) === 0 ? pick(roll, wrong) : shows.secret;
  if (roll(3) === 0) form.push(['client_id', id], ['client_secret', secret]);
  else {
    const escaped =
      roll(4) === 0 ? (text: string) => `%${hex(text[0] ?? '')}${text.slice(1)}` : String;
    const word = pick(roll, ['Basic', 'Basic', 'Basic', 'Basic', 'basic', 'BASIC']);
    fields.push(['Authorization', `${word} ${btoa(`${escaped(id)}:${escaped(secret)}`)}`]);
    if (roll(15) === 0) form.push(['client_id', pick(roll, [id, 'nobody'])]);
  }
  return {};
}

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');

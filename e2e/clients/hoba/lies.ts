/** False answers that a server must refuse: each changes one part of a valid answer. */
import { constants, sign } from 'node:crypto';
import { quoted } from '../digest/challenges.ts';
import type { Param } from '../digest/challenges.ts';
import type { HobaOptions } from './hoba-client.ts';
import { newKey } from './keys.ts';
import type { HobaKey } from './keys.ts';
import type { ToBeSigned } from './to-be-signed.ts';

type Lie = (honest: HobaOptions) => HobaOptions;
type Lies = readonly (readonly [what: string, lie: Lie])[];

const PARTS = ['kid', 'challenge', 'nonce', 'sig'];

const sending =
  (tamper: (params: readonly Param[]) => readonly Param[]): Lie =>
  (honest) => ({ ...honest, tamper });

const answering = (change: (result: string) => readonly Param[]): Lie =>
  sending(([result]) => change(result?.value ?? ''));

const splitting = (change: (parts: readonly string[]) => readonly string[]): Lie =>
  answering((result) => [quoted('result', change(result.split('.')).join('.'))]);

const part = (name: string, change: (value: string) => string): Lie =>
  splitting((parts) =>
    parts.map((value, at) => (at === PARTS.indexOf(name) ? change(value) : value)),
  );

/** Changes the signed fields, and the sent result where it contains them. */
const signing =
  (change: (fields: ToBeSigned) => Partial<ToBeSigned>): Lie =>
  (honest) => ({ ...honest, prepare: (fields) => ({ ...fields, ...change(fields) }) });

const by =
  (how: (octets: Buffer, key: HobaKey) => Buffer): Lie =>
  (honest) => ({ ...honest, sign: how });

const another = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);

/**
 * Faults of HOBA-RES (section 2): "if a malformed message is received, the server MUST fail
 * authentication".
 */
const sent: Lies = [
  ...PARTS.flatMap((name): Lies => [
    [`${name}: another`, part(name, another)],
    [`${name}: empty`, part(name, () => '')],
    [`${name}: missing`, splitting((parts) => parts.filter((_, at) => at !== PARTS.indexOf(name)))],
    [`${name}: with a character that base64url has not`, part(name, (value) => `${value}~`)],
    [`${name}: with a space`, part(name, (value) => `${value} `)],
  ]),
  ['sig: cut', part('sig', (value) => value.slice(0, -4))],
  ['sig: longer', part('sig', (value) => `${value.slice(0, -2)}AAAAAA`)],
  ['a fifth part', splitting((parts) => [...parts, 'AAAA'])],
  ['a dot behind it', splitting((parts) => [...parts, ''])],
  ['nothing', answering(() => [quoted('result', '')])],
  ['no result', answering((result) => [quoted('response', result)])],
  ['result twice', answering((result) => [quoted('result', result), quoted('result', result)])],
  [
    'result twice, another first',
    answering((result) => [quoted('result', another(result)), quoted('result', result)]),
  ],
  [
    'result twice, once in capitals',
    answering((result) => [quoted('result', result), quoted('RESULT', result)]),
  ],
];

/**
 * Faults of HOBA-TBS (sections 2 and 3): values that the server knows itself, and forms outside the
 * grammar.
 */
const wrong: Lies = [
  [
    'origin: without its port',
    signing(({ origin }) => ({ origin: origin.replace(/:[0-9]+$/, '') })),
  ],
  ['origin: another port', signing(({ origin }) => ({ origin: `${origin}0` }))],
  ['origin: http', signing(({ origin }) => ({ origin: origin.replace('https:', 'http:') }))],
  ['origin: another', signing(() => ({ origin: 'https://other.example:443' }))],
  ['origin: with a slash', signing(({ origin }) => ({ origin: `${origin}/` }))],
  ['origin: in capitals', signing(({ origin }) => ({ origin: origin.toUpperCase() }))],
  ['realm: another', signing(({ realm }) => ({ realm: `${realm}x` }))],
  ['alg: the other', signing(() => ({ alg: '1' }))],
  ['alg: two digits', signing(() => ({ alg: '00' }))],
  ['alg: none', signing(() => ({ alg: '' }))],
  ['kid: of nobody', signing(({ kid }) => ({ kid: another(kid) }))],
  ['challenge: of nobody', signing(({ challenge }) => ({ challenge: another(challenge) }))],
  ['nonce: signed empty', signing(() => ({ nonce: '' }))],
  ['nonce: signed with a character that base64url has not', signing(() => ({ nonce: 'AAAA~' }))],
  ['nonce: signed with a dot', signing(() => ({ nonce: 'AAAA.AAAA' }))],
];

/** Wrong algorithms and keys (RFC 7486 section 7). */
const signed: Lies = [
  ['another key', by((octets) => sign('sha256', octets, newKey().privateKey))],
  ['SHA-1 as number 0', by((octets, { privateKey }) => sign('sha1', octets, privateKey))],
  ['SHA-512', by((octets, { privateKey }) => sign('sha512', octets, privateKey))],
  [
    'RSASSA-PSS',
    by((octets, { privateKey: key }) =>
      sign('sha256', octets, { key, padding: constants.RSA_PKCS1_PSS_PADDING }),
    ),
  ],
  [
    'no lengths',
    by((octets, { privateKey }) =>
      sign('sha256', Buffer.from(octets.toString().replaceAll(/[0-9]+:/g, '')), privateKey),
    ),
  ],
  [
    'a newline at its end',
    by((octets, { privateKey }) =>
      sign('sha256', Buffer.concat([octets, Buffer.of(10)]), privateKey),
    ),
  ],
];

export const LIES: Lies = [...sent, ...wrong, ...signed];

/** Allowed by the RFC (section 7: MAY), but refused by servers that do not support it. */
export const RSA_SHA1: Lie = (honest) => ({
  ...signing(() => ({ alg: '1' }))(honest),
  sign: (octets, { privateKey }) => sign('sha1', octets, privateKey),
});

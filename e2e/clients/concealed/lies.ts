/** False proofs that a server must refuse: each changes one part of a valid proof. */
import { quoted, token } from '../digest/challenges.ts';
import type { Param } from '../digest/challenges.ts';
import type { ConcealedOptions } from './concealed-client.ts';
import type { ExporterContext } from './exporter-context.ts';
import { ALGORITHMS, newKey } from './keys.ts';

export type Lie = (honest: ConcealedOptions) => ConcealedOptions;
export type Lies = readonly (readonly [what: string, lie: Lie])[];

const REQUIRED = ['k', 'a', 's', 'v', 'p'];
const OCTETS = ['k', 'a', 'v', 'p'];

const sending =
  (tamper: (params: readonly Param[]) => readonly Param[]): Lie =>
  (honest) => ({ ...honest, tamper });

const replacing = (name: string, change: (value: string) => readonly Param[]): Lie =>
  sending((params) =>
    params.flatMap((param) => (param.name === name ? change(param.value) : param)),
  );

const spelling = (name: string, change: (value: string) => string): Lie =>
  replacing(name, (value) => [token(name, change(value))]);

/** Changes the exported context, and with it the parameters `k`, `a` and `s`. */
export const exporting =
  (change: (context: ExporterContext) => Partial<ExporterContext>): Lie =>
  (honest) => ({ ...honest, prepare: (context) => ({ ...context, ...change(context) }) });

const covering =
  (cover: (exported: Buffer) => Buffer): Lie =>
  (honest) => ({ ...honest, cover });

const CHANGES: readonly (readonly [what: string, change: (octets: Buffer) => Buffer])[] = [
  [
    'a bit flipped',
    (octets) => Buffer.from(octets.map((octet, at) => (at === 0 ? octet ^ 1 : octet))),
  ],
  ['cut', (octets) => octets.subarray(0, -1)],
  ['longer', (octets) => Buffer.concat([octets, Buffer.of(0)])],
  ['empty', () => Buffer.alloc(0)],
];

const changed: Lies = OCTETS.flatMap((name) =>
  CHANGES.map(([what, change]) => [
    `${name}: ${what}`,
    spelling(name, (text) => change(Buffer.from(text, 'base64url')).toString('base64url')),
  ]),
);

/** All parameters are required (section 6.1), each once, in any case (RFC 9110 section 11.2). */
const counted: Lies = REQUIRED.flatMap((name): Lies => [
  [`${name}: missing`, replacing(name, () => [])],
  [`${name}: twice`, replacing(name, (value) => [token(name, value), token(name, value)])],
  [
    `${name}: once more in capitals`,
    replacing(name, (value) => [token(name, value), token(name.toUpperCase(), value)]),
  ],
  [
    `${name}: once more before it`,
    replacing(name, (value) => [token(name, '0'), token(name, value)]),
  ],
]);

/** Wrong spellings of parameters (section 4). */
const spelt: Lies = [
  ...OCTETS.map(
    (name) => [`${name}: quoted`, replacing(name, (text) => [quoted(name, text)])] as const,
  ),
  ['v: padded', spelling('v', (text) => `${text}==`)],
  ['v: with a character that base64url has not', spelling('v', (text) => `${text}.`)],
  [
    'v: with bits that no octet has (RFC 4648 section 3.5)',
    spelling('v', (text) =>
      text.replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1)),
    ),
  ],
  ['s: with a leading zero', spelling('s', (digits) => `0${digits}`)],
  ['s: with a plus', spelling('s', (digits) => `+${digits}`)],
  ['s: with a minus', spelling('s', (digits) => `-${digits}`)],
  ['s: with a fraction', spelling('s', (digits) => `${digits}.0`)],
  ['s: in hexadecimal', spelling('s', (digits) => `0x${Number(digits).toString(16)}`)],
  ['s: past 16 bits', spelling('s', (digits) => String(Number(digits) + 2 ** 16))],
  ['s: nothing', replacing('s', () => [quoted('s', '')])],
  ['s: 0', spelling('s', () => '0')],
  ['s: another', spelling('s', (digits) => String(Number(digits) ^ 1))],
];

/** Wrong exporter contexts (section 3.1). */
const exported: Lies = [
  ['another algorithm', exporting(({ algorithm }) => ({ algorithm: algorithm ^ 1 }))],
  ['http', exporting(() => ({ scheme: 'http' }))],
  ['the scheme in capitals', exporting(({ scheme }) => ({ scheme: scheme.toUpperCase() }))],
  ['another host', exporting(() => ({ host: 'other.example' }))],
  ['the host with its port', exporting(({ host, port }) => ({ host: `${host}:${port}` }))],
  ['the host with a dot', exporting(({ host }) => ({ host: `${host}.` }))],
  ['another port', exporting(({ port }) => ({ port: port ^ 1 }))],
  ['no port', exporting(() => ({ port: 0 }))],
  ['another realm than is sent', exporting(({ realm }) => ({ realm: `${realm}x` }))],
];

/** Wrong signed contents (section 3.3). */
const signed: Lies = [
  [
    'the text of figure 3',
    covering((octets) =>
      Buffer.concat([
        Buffer.from(`${' '.repeat(64)}HTTP Signature Authentication\0`),
        octets.subarray(0, 32),
      ]),
    ),
  ],
  [
    'the verification signed as well',
    covering((octets) =>
      Buffer.concat([Buffer.from(`${' '.repeat(64)}HTTP Concealed Authentication\0`), octets]),
    ),
  ],
  ['nothing before the input', covering((octets) => octets.subarray(0, 32))],
  ['another input', covering(() => Buffer.alloc(126, 1))],
];

/** Proofs of a client with a key that is not registered under the key ID. */
const stolen: Lies = [
  [
    'another key by its ID, in `a` too',
    ({ key: { algorithm, keyId }, ...honest }) => {
      return { ...honest, key: { ...newKey(algorithm, ''), keyId } };
    },
  ],
  [
    'another key by its ID, with the right `a`',
    ({ key, ...honest }) => {
      const { sign, newKey: make } = ALGORITHMS[key.algorithm];
      return { ...honest, key, sign: (content) => sign(content, make()) };
    },
  ],
];

/** False proofs for a key of any algorithm. */
export const LIES: Lies = [
  ...changed,
  ...counted,
  ...spelt,
  ...exported,
  ...signed,
  ...stolen,
  [
    'a realm that was not exported',
    sending((params) => [...params, quoted('realm', 'not exported')]),
  ],
];

/** The backend of RFC 9729 section 6.3, reduced to the needs of a client's tests. */
import { constants, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { parseChallenges, valueOf } from '../digest/challenges.ts';

export interface Known {
  readonly algorithm: number;
  readonly publicKey: KeyObject;
}

interface Way {
  readonly hash: string | null;
  /** The length of SubjectPublicKeyInfo before the octets of section 3.1.1. */
  readonly header: number;
}

const WAYS = new Map<number, Way>([
  [2055, { hash: null, header: 12 }],
  [1027, { hash: 'sha256', header: 26 }],
  [1283, { hash: 'sha384', header: 23 }],
  [2052, { hash: 'sha256', header: 24 }],
  [2053, { hash: 'sha384', header: 24 }],
  [2054, { hash: 'sha512', header: 24 }],
]);

/** Whether the credentials prove the key for this URI on this connection. */
export function proves(
  lines: readonly string[],
  socket: TLSSocket,
  url: URL,
  known: ReadonlyMap<string, Known>,
): boolean {
  try {
    const [credentials, ...more] = parseChallenges(lines);
    if (credentials?.scheme !== 'Concealed' || more.length > 0) return false;
    const bytes = (name: string) => {
      const found = credentials.params.find((param) => param.name === name);
      const octets = Buffer.from(found?.value ?? '', 'base64url');
      const canonical = octets.toString('base64url') === found?.value && !found.quoted;
      if (!canonical) throw new SyntaxError(name);
      return octets;
    };
    const [k, a, v, p] = ['k', 'a', 'v', 'p'].map(bytes) as [Buffer, Buffer, Buffer, Buffer];
    const key = known.get(k.toString());
    const way = WAYS.get(key?.algorithm ?? 0);
    if (key === undefined || way === undefined) return false;
    if (valueOf(credentials.params, 's') !== String(key.algorithm)) return false;
    const spki = key.publicKey.export({ format: 'der', type: 'spki' });
    if (!a.equals(spki.subarray(way.header))) return false;

    const realm = valueOf(credentials.params, 'realm') ?? '';
    const port = Number(url.port || { 'http:': 80, 'https:': 443 }[url.protocol]);
    const context = Buffer.concat([
      number(key.algorithm),
      ...[k, a, url.protocol.slice(0, -1), url.hostname].map(string),
      number(port),
      string(realm),
    ]);
    const label = 'EXPORTER-HTTP-Concealed-Authentication';
    const exported = socket.exportKeyingMaterial(48, label, context);
    const content = Buffer.concat([
      Buffer.from(`${' '.repeat(64)}HTTP Concealed Authentication\0`),
      exported.subarray(0, 32),
    ]);
    return v.equals(exported.subarray(32)) && verify(way.hash, content, inputOf(key), p);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function inputOf({ algorithm, publicKey }: Known) {
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: -1 };
  return { key: publicKey, ...(algorithm >= 2052 && algorithm <= 2054 ? pss : {}) };
}

function number(value: number): Buffer {
  return Buffer.of(value >> 8, value & 255);
}

/** A string with its length, which is below 64 or below 16,384 (RFC 9000 section 16). */
function string(text: string | Buffer): Buffer {
  const octets = Buffer.from(text as string);
  const length = octets.length < 64 ? Buffer.of(octets.length) : number(0x4000 | octets.length);
  return Buffer.concat([length, octets]);
}

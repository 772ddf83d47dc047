import { createHash, createPublicKey } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AlgorithmName, type ConcealedKey, newKey } from '../clients/concealed/keys.ts';
import { type BoundConnection, overTls1, overTls2 } from '../clients/concealed/over-tls.ts';
import type { HttpRequest } from '../clients/digest/exchange.ts';
import type { Pair } from '../pair/pair.ts';

/** Adds a new public key to a person of the directory. */
export async function keyOf(
  pair: Pair,
  name: string,
  algorithm: AlgorithmName = 'ed25519',
): Promise<ConcealedKey> {
  const key = newKey(algorithm, '');
  const publicKey = createPublicKey(key.privateKey);
  const file = join(pair.data, `${name}-${algorithm}.pem`);
  await writeFile(file, publicKey.export({ format: 'pem', type: 'spki' }));
  await pair.cli('user', 'key', 'add', name, '--public-key', file);
  return { ...key, keyId: fingerprint(key) };
}

/** The key ID: the SHA-256 of SubjectPublicKeyInfo. */
export function fingerprint({ privateKey }: Pick<ConcealedKey, 'privateKey'>): Buffer {
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return createHash('sha256').update(spki).digest();
}

export const PROTOCOLS = ['HTTP/1.1', 'HTTP/2'] as const;
type Protocol = (typeof PROTOCOLS)[number];

/** Opens a TLS connection to a server's own origin or, over HTTP/1.1, to another process of the server. */
export function connectTo(protocol: Protocol, origin: string): Promise<BoundConnection> {
  const { hostname, port } = new URL(origin);
  return protocol === 'HTTP/2'
    ? overTls2(origin)
    : overTls1(hostname, Number(port), { rejectUnauthorized: false });
}

/** Makes a request for the client of the protocol: HTTP/2's takes the whole URL, the others a path. */
export function requestFor(
  protocol: Protocol,
  origin: string,
  method: string,
  path: string,
  content = '',
): HttpRequest {
  const target = protocol === 'HTTP/2' ? origin + path : path;
  return { method, target, fields: [], content: Buffer.from(content) };
}

/** The TLS port of a resource server. */
export async function tlsPort(pair: Pair, server: number): Promise<number> {
  const config = await readFile(join(pair.data, `config-${server}.json`), 'utf8');
  return Number(JSON.parse(config).listen.resourceTls.port);
}

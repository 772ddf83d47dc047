import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import type { Pair } from '../../pair/pair.ts';

/** A client that authenticates with a key (RFC 7523). */
export interface KeyClient {
  readonly id: string;
  readonly privateKey: CryptoKey;
  readonly privateJwk: JWK;
  /** The file with the client's registered public JWK Set. */
  readonly jwksFile: string;
}

/** Registers a client for client credentials that authenticates with a new key. */
export async function addKeyClient(
  pair: Pair,
  alg = 'ES256',
  scope = 'documents:read documents:write',
): Promise<KeyClient> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const kid = randomUUID();
  const jwksFile = join(pair.data, `${kid}.json`);
  await writeFile(jwksFile, JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid }] }));
  const args = ['--name', 'Key', '--grant', 'client_credentials', '--scope', scope];
  const key = ['--auth', 'private_key_jwt', '--jwks', jwksFile];
  const { client_id } = await pair.cli('client', 'add', ...args, ...key);
  const privateJwk = { ...(await exportJWK(privateKey)), kid };
  return { id: String(client_id), privateKey, privateJwk, jwksFile };
}

import { createHash, createHmac, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { sameText } from '#shared/base/constant-time.ts';
import { type ScramHash, SCRAM_HASHES } from './hashes.ts';
import { saslprep } from './saslprep.ts';

const derive = promisify(pbkdf2);

/** The proof of a client, and the check of the server's proof. */
export interface ScramFinal {
  /** client-final-message. */
  readonly message: string;
  /** True if a server-final-message comes from a server that has the person's keys (RFC 5802 section 3). */
  isFromServer(message: string): boolean;
}

const SERVER_FIRST = /^r=([^,]+),s=([A-Za-z0-9+/]+=*),i=([1-9]\d{3,6})$/;

/**
 * Makes the messages of a client that supports SCRAM over HTTP (RFC 7804 section 5, RFC 5802 section 5). `nonce`:
 * printable characters without a comma.
 */
export function scramClient(
  hash: ScramHash,
  { name, password, nonce }: { name: string; password: string; nonce: string },
) {
  const { name: node, size } = SCRAM_HASHES[hash];
  const hmac = (key: Buffer, text: string) => createHmac(node, key).update(text).digest();
  const saslname = name.replaceAll('=', '=3D').replaceAll(',', '=2C');
  const bare = `n=${saslname},r=${nonce}`;
  return {
    /** client-first-message. */
    first: `n,,${bare}`,
    /** Returns undefined for a server-first-message that is malformed, or does not continue the nonce. */
    async final(serverFirst: string): Promise<ScramFinal | undefined> {
      const [, whole = '', salt = '', iterations] = SERVER_FIRST.exec(serverFirst) ?? [];
      const prepared = saslprep(password);
      if (prepared === undefined || !whole.startsWith(nonce) || whole === nonce) return undefined;
      const salted = await derive(
        prepared,
        Buffer.from(salt, 'base64'),
        Number(iterations),
        size,
        node,
      );
      const withoutProof = `c=biws,r=${whole}`;
      const authMessage = [bare, serverFirst, withoutProof].join(',');
      const clientKey = hmac(salted, 'Client Key');
      const signature = hmac(createHash(node).update(clientKey).digest(), authMessage);
      const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
      const server = hmac(hmac(salted, 'Server Key'), authMessage);
      return {
        message: `${withoutProof},p=${proof.toString('base64')}`,
        isFromServer: (message) => sameText(message, `v=${server.toString('base64')}`),
      };
    },
  };
}

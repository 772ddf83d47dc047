/**
 * A server of RFC 7486, reduced to the needs of a client's tests: one realm, and each challenge valid once.
 */
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import http2 from 'node:http2';
import type { Http2ServerRequest } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { startServer } from '../../interop/proxy-site.ts';
import type { Behind } from '../../interop/proxy-site.ts';

export const REALM = 'test-realm';
export const SECRET = 'good-once';

/** Starts HTTP/1.1 and HTTP/2 with this certificate for `localhost`. */
export async function startHobaServer(tls: { cert: Buffer; key: Buffer }): Promise<Behind> {
  const keys = new Map<string, KeyObject>();
  const challenges = new Set<string>();
  let port = 0;

  /** A challenge in base64url with padding, as the grammar of section 2 has it. */
  function newChallenge(): string {
    const challenge = `${randomBytes(32).toString('base64url')}=`;
    challenges.add(challenge);
    return challenge;
  }

  function believes(credentials: string): boolean {
    const result = /^HOBA result="([\w=-]+)\.([\w=-]+)\.([\w=-]+)\.([\w=-]+)"$/.exec(credentials);
    const [, kid = '', challenge = '', nonce = '', sig = ''] = result ?? [];
    const publicKey = keys.get(kid);
    if (publicKey === undefined || !challenges.delete(challenge)) return false;
    const fields = [nonce, '0', `https://localhost:${port}`, REALM, kid, challenge];
    const signed = fields.map((field) => `${Buffer.byteLength(field)}:${field}`).join('');
    return verify('sha256', Buffer.from(signed), publicKey, Buffer.from(sig, 'base64url'));
  }

  async function registers(request: Http2ServerRequest): Promise<boolean> {
    const form = new URLSearchParams(String(await buffer(request)));
    const publicKey = createPublicKey(form.get('pub') ?? '');
    const der = publicKey.export({ format: 'der', type: 'spki' });
    const kid = createHash('sha256').update(der).digest('base64url');
    const right = form.get('kid') === kid && form.get('secret') === SECRET;
    if (right) keys.set(kid, publicKey);
    return right;
  }

  const server = http2.createSecureServer({ ...tls, allowHTTP1: true }, (request, response) => {
    const answer = async () => {
      const path = new URL(request.url, 'https://localhost').pathname;
      if (path === '/.well-known/hoba/register') {
        const right = await registers(request);
        return response.writeHead(right ? 200 : 403, { Hobareg: 'RegOK' }).end();
      }
      if (path === '/.well-known/hoba/getchal') return response.end(` ${newChallenge()}\r\n`);
      if (believes(request.headers.authorization ?? '')) return response.writeHead(204).end();
      const ask = `HOBA realm="${REALM}", max-age=0, challenge="${newChallenge()}"`;
      return response.writeHead(401, { 'WWW-Authenticate': ask }).end();
    };
    answer().catch(() => response.writeHead(500).end());
  });
  const started = await startServer(server);
  ({ port } = started);
  return started;
}

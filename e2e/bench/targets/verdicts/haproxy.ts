/** @needs haproxy */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../parts/free-port.ts';
import { type Server, startServer } from '../../cpu.ts';
import { pem } from '../issuer-key.ts';
import type { VerdictPeer } from './verdict-peer.ts';

/**
 * Debian's HAProxy on one thread: `jwt_verify` checks the signature, and rules check issuer, audience,
 * scope and expiry. HAProxy answers 204 itself.
 */
export async function startHaproxyVerdicts(peer: VerdictPeer): Promise<Server> {
  const port = await freePort();
  const [key, file] = [join(peer.folder, 'issuer.pem'), join(peer.folder, 'haproxy.cfg')];
  await writeFile(key, pem(peer.key));
  await writeFile(file, configuration(peer, port, key));
  const { PATH } = process.env;
  return startServer('haproxy', ['-db', '-f', file], {
    env: { PATH: `${PATH}:/usr/sbin` },
    url: `http://127.0.0.1:${port}`,
    log: join(peer.folder, 'haproxy.log'),
  });
}

function configuration(
  { issuer, audience, scope }: VerdictPeer,
  port: number,
  key: string,
): string {
  const conditions = [
    'var(txn.alg) -m str ES256',
    `${payload('iss')} -m str ${issuer}`,
    `${payload('aud')} -m str ${audience}`,
    `${payload('scope')} -m reg (^|\\ )${scope}($|\\ )`,
    'var(txn.exp),sub(txn.now) -m int gt 0',
    `var(txn.token),jwt_verify(txn.alg,"${key}") -m int 1`,
  ];
  const refusals = conditions.map(
    (condition) => `  http-request return status 401 unless { ${condition} }`,
  );
  return `
global
  nbthread 1
  log stderr format raw local0
defaults
  mode http
  log global
  option httplog
  timeout client 60s
  timeout http-request 60s
frontend verdicts
  bind 127.0.0.1:${port}
  http-request set-var(txn.token) http_auth_bearer
  http-request set-var(txn.alg) var(txn.token),jwt_header_query('$.alg')
  http-request set-var(txn.exp) var(txn.token),jwt_payload_query('$.exp','int')
  http-request set-var(txn.now) date()
${refusals.join('\n')}
  http-request return status 204
`;
}

const payload = (claim: string) => `var(txn.token),jwt_payload_query('$.${claim}')`;

import { createPublicKey } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JWK } from 'jose';
import { freePort } from '../../parts/free-port.ts';
import { startServer } from '../cpu.ts';
import type { Server } from '../cpu.ts';

export interface HaproxyOptions {
  readonly jwk: JWK;
  readonly issuer: string;
  readonly audience: string;
  readonly scope: string;
  readonly body: string;
  /** Takes its configuration, its key and its log. */
  readonly folder: string;
}

/**
 * Debian's HAProxy: signature, issuer, audience, expiry and scope are checked by its `jwt_verify` and
 * ACLs, and it answers by itself.
 */
export async function startHaproxy(options: HaproxyOptions): Promise<Server> {
  const { jwk, folder } = options;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const [key, file] = [join(folder, `${jwk.alg}.pem`), join(folder, `haproxy-${jwk.alg}.cfg`)];
  const pem = createPublicKey({ key: { ...jwk }, format: 'jwk' });
  await writeFile(key, pem.export({ type: 'spki', format: 'pem' }));
  await writeFile(file, configuration(options, port, key));
  const { PATH } = process.env;
  return startServer('haproxy', ['-db', '-f', file], {
    env: { PATH: `${PATH}:/usr/sbin` },
    url,
    log: join(folder, 'haproxy.log'),
  });
}

function configuration(
  { jwk, issuer, audience, scope, body }: HaproxyOptions,
  port: number,
  key: string,
): string {
  const payload = (claim: string) => `var(txn.token),jwt_payload_query('$.${claim}')`;
  return `
global
  nbthread 1
defaults
  mode http
  timeout client 60s
  timeout http-request 60s
frontend resource
  bind 127.0.0.1:${port}
  http-request set-var(txn.token) http_auth_bearer
  http-request set-var(txn.alg) var(txn.token),jwt_header_query('$.alg')
  http-request set-var(txn.exp) var(txn.token),jwt_payload_query('$.exp','int')
  http-request set-var(txn.now) date()
  http-request return status 401 unless { var(txn.alg) -m str ${jwk.alg} }
  http-request return status 401 unless { ${payload('iss')} -m str ${issuer} }
  http-request return status 401 unless { ${payload('aud')} -m str ${audience} }
  http-request return status 401 unless { ${payload('scope')} -m reg (^|\\ )${scope}($|\\ ) }
  http-request return status 401 unless { var(txn.exp),sub(txn.now) -m int gt 0 }
  http-request return status 401 unless { var(txn.token),jwt_verify(txn.alg,"${key}") -m int 1 }
  http-request return status 200 content-type text/plain string "${body}"
`;
}

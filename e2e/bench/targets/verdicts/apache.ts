import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Server } from '../../cpu.ts';
import { startApache } from '../apache.ts';
import { publishKey } from './published-key.ts';
import type { VerdictPeer } from './verdict-peer.ts';

export interface ApacheVerdicts extends VerdictPeer {
  /** The file that admitted requests get. */
  readonly path: string;
  readonly body: string;
}

/**
 * Debian's Apache in one process: mod_auth_openidc checks signature, expiry, issuer, audience and scope.
 */
export async function startApacheVerdicts(peer: ApacheVerdicts): Promise<Server> {
  const { folder, issuer, audience, scope, path, body } = peer;
  const file = join(folder, 'documents', path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, body);
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await publishKey(peer.key));
  const apache = await startApache({
    folder,
    modules: ['auth_openidc'],
    configuration: `
OIDCOAuthVerifyJwksUri ${url}
OIDCOAuthSSLValidateServer Off
<Location />
  AuthType oauth20
  <RequireAll>
    Require claim iss:${issuer}
    Require claim aud:${audience}
    Require claim "scope~(^| )${scope}($| )"
  </RequireAll>
</Location>`,
  });
  stack.use(apache);
  const kept = stack.move();
  return { ...apache, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

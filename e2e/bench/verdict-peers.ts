import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { Server } from './cpu.ts';
import { onWrk } from './loaded.ts';
import { inTurn } from './requests.ts';
import { BODY, ES256, get, SCOPE, type Site } from './site.ts';
import { issuerKey } from './targets/issuer-key.ts';
import { openFolder } from './targets/open-folder.ts';
import { startApacheVerdicts } from './targets/verdicts/apache.ts';
import { startHaproxyVerdicts } from './targets/verdicts/haproxy.ts';
import { byBearer } from './token-contenders.ts';
import type { Loaded } from './work.ts';

/** Third-party servers that check one site's tokens. They do not learn of revocations. */
export interface VerdictPeers {
  readonly haproxy: Server;
  readonly apache: Server;
}

/** Starts HAProxy and Apache, which check one site's tokens; the stack ends them. */
export async function startVerdictPeers(
  stack: AsyncDisposableStack,
  { servers: { pair, authz } }: Site,
): Promise<VerdictPeers> {
  const { path: parent } = stack.use(await temporaryFolder());
  const tokens = {
    key: await issuerKey(authz.url),
    issuer: pair.issuer,
    audience: ES256.url,
    scope: SCOPE,
  };
  const peer = async (name: string) => ({ ...tokens, folder: await openFolder(parent, name) });
  const file = { path: ES256.path, body: BODY };
  return {
    haproxy: stack.use(await startHaproxyVerdicts(await peer('haproxy'))),
    apache: stack.use(await startApacheVerdicts({ ...(await peer('apache')), ...file })),
  };
}

const asked = (name: string, server: Server, tokens: readonly string[]) =>
  byBearer({ name, server, space: ES256, tokens, ask: get, load: inTurn });

/** HAProxy answers 204, as our `/verify` does. */
export const byHaproxy = ({ haproxy }: VerdictPeers, tokens: readonly string[]): Loaded =>
  onWrk({ ...asked('HAProxy jwt_verify', haproxy, tokens), answer: { status: 204 } });

/** Apache answers with the small document. */
export const byApache = ({ apache }: VerdictPeers, tokens: readonly string[]): Loaded =>
  onWrk(asked('mod_auth_openidc', apache, tokens));

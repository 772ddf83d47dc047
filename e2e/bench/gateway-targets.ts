import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { Server } from './cpu.ts';
import type { HttpContender } from './http-load.ts';
import { always } from './requests.ts';
import { bearer, type Fields, ORIGIN } from './site.ts';
import { startCountersign } from './targets/countersign.ts';
import { startNginxGateway } from './targets/nginx-gateway.ts';
import { FILES, startStaticFiles } from './targets/static-files.ts';
import { mintTokens } from './tokens.ts';

export type FileName = keyof typeof FILES;

/** Both gateways forward to the same files of the same server. */
export interface GatewayTargets {
  readonly nginx: Server;
  readonly ours: Server;
  readonly token: string;
}

const GUARDED = `${ORIGIN}/guarded/`;
const SCOPE = 'documents:read';

/** Starts both gateways; the stack ends them. */
export async function startGatewayTargets(stack: AsyncDisposableStack): Promise<GatewayTargets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const { url: upstream } = stack.use(await startStaticFiles(folder));
  const nginx = stack.use(await startNginxGateway(upstream, folder));
  const { ours, token } = await startOurGateway(stack, upstream);
  return { nginx, ours, token };
}

/** Starts our gateway in front of that origin, and gets a token for the space with authentication. */
async function startOurGateway(
  stack: AsyncDisposableStack,
  upstream: string,
): Promise<Pick<GatewayTargets, 'ours' | 'token'>> {
  const serving = { serves: 'upstream', upstream: { url: `${upstream}/` } };
  const spaces = [
    { url: `${ORIGIN}/open/`, realm: 'open', schemes: [], ...serving },
    {
      url: GUARDED,
      realm: 'guarded',
      schemes: ['Bearer'],
      scopes: { safe: [SCOPE], unsafe: [SCOPE] },
      ...serving,
    },
  ];
  const { pair, authz, resource } = stack.use(await startCountersign({ resource: ORIGIN, spaces }));
  const client = await pair.addClient(SCOPE);
  const grant = { issuer: authz.url, client, scope: SCOPE, resource: GUARDED };
  const [token = ''] = await mintTokens(grant, 1);
  return { ours: resource, token };
}

function passing(
  name: string,
  server: Server,
  path: string,
  file: FileName,
  fields: Fields = {},
): HttpContender {
  return {
    name,
    server,
    load: always({ method: 'GET', path: `${path}${file}`, fields }),
    answer: { status: 200, body: (text) => text === FILES[file] },
  };
}

/** Forwarding without a verdict, by nginx. */
export const byNginx = ({ nginx }: GatewayTargets, file: FileName) =>
  passing('nginx', nginx, '/', file);

/** Forwarding without a verdict, by our gateway. */
export const withoutVerdict = ({ ours }: GatewayTargets, file: FileName) =>
  passing('ours', ours, '/open/', file);

/** The token with a changed end of its signature. */
const forgedBearer = (token: string) => bearer(`${token.slice(0, -4)}AAAA`);

/** A cached Bearer token, and a cached statement. */
export function withVerdict({ ours, token }: GatewayTargets, file: FileName): HttpContender {
  const forged = { method: 'GET', path: `/guarded/${file}`, fields: forgedBearer(token) };
  return {
    ...passing('ours, Bearer and statement', ours, '/guarded/', file, bearer(token)),
    forged: () => forged,
  };
}

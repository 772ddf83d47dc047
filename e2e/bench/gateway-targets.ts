import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { Server } from './cpu.ts';
import type { HttpContender } from './http-load.ts';
import { always } from './requests.ts';
import { bearer, type Fields, ORIGIN } from './site.ts';
import { startCountersign } from './targets/countersign.ts';
import {
  startApacheGateway,
  startHaproxyGateway,
  startNginxGateway,
} from './targets/gateway-peers.ts';
import { FILES, startStaticFiles } from './targets/static-files.ts';
import { mintTokens } from './tokens.ts';

export type FileName = keyof typeof FILES;

/** All pass on the same files of the same server. */
export interface GatewayTargets {
  /** nginx, HAProxy and Apache. */
  readonly peers: Readonly<Record<'nginx' | 'HAProxy' | 'Apache', Server>>;
  readonly ours: Server;
  readonly token: string;
}

const GUARDED = `${ORIGIN}/guarded/`;
const SCOPE = 'documents:read';

/** Starts them; the stack ends them. */
export async function startGatewayTargets(stack: AsyncDisposableStack): Promise<GatewayTargets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const { url: upstream } = stack.use(await startStaticFiles(folder));
  const peer = { upstream, folder };
  const nginx = stack.use(await startNginxGateway(peer));
  const HAProxy = stack.use(await startHaproxyGateway(peer));
  const Apache = stack.use(await startApacheGateway(peer));
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
  return { peers: { nginx, HAProxy, Apache }, ours: resource, token };
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

/** A pass without a verdict, by one of the others. */
export const byPeer = (
  { peers }: GatewayTargets,
  name: keyof GatewayTargets['peers'],
  file: FileName,
) => passing(name, peers[name], '/', file);

/** The same by ours. */
export const withoutVerdict = ({ ours }: GatewayTargets, file: FileName) =>
  passing('ours', ours, '/open/', file);

/** A Bearer token that was seen before, and a statement that is remembered. */
export function withVerdict({ ours, token }: GatewayTargets, file: FileName): HttpContender {
  const forged = {
    method: 'GET',
    path: `/guarded/${file}`,
    fields: bearer(`${token.slice(0, -4)}AAAA`),
  };
  return {
    ...passing('ours, Bearer and statement', ours, '/guarded/', file, bearer(token)),
    forged: () => forged,
  };
}

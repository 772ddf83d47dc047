import { temporaryFolder } from '../parts/temporary-folder.ts';
import { startEchoApplication } from './echo-application.ts';
import { forgedBearer, startOurGateway } from './gateway-targets.ts';
import { bearer } from './site.ts';
import type { SocketContender } from './socket-load.ts';
import { startGatewayPeers } from './targets/gateway-peers.ts';

/** The gateways before one application that sends messages back; the first is nginx. The stack ends them. */
export async function startGatewaySockets(
  stack: AsyncDisposableStack,
): Promise<readonly SocketContender[]> {
  const { path: folder } = stack.use(await temporaryFolder());
  const { url: upstream } = stack.use(await startEchoApplication());
  const peers = await startGatewayPeers(stack, { upstream, folder });
  const { ours, token } = await startOurGateway(stack, upstream);
  return [
    ...Object.entries(peers).map(([name, server]) => ({ name, server, path: '/', fields: {} })),
    { name: 'ours', server: ours, path: '/open/', fields: {} },
    {
      name: 'ours, Bearer',
      server: ours,
      path: '/guarded/',
      fields: bearer(token),
      forged: forgedBearer(token),
    },
  ];
}

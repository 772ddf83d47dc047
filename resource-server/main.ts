import { openGss } from '#shared/auth/schemes/negotiate/open.ts';
import { runProcess } from '#shared/server/process.ts';
import { openSend } from '#shared/client/send.ts';
import { composeResourceServer } from './compose.ts';
import { fetchJson } from './auth/fetch-json.ts';
import { systemNetwork } from './proxy/network.ts';

await runProcess(
  {
    name: 'resource',
    keys: 'gatewayKeys',
    makesEpoch: false,
    origin: ({ resource }) => resource,
    async create(parts) {
      const gss = await openGss(parts.config.negotiate, process.env, parts.log);
      return composeResourceServer(parts, {
        fetch: fetchJson,
        openSend,
        gss,
        network: systemNetwork,
      });
    },
  },
  process.env,
);

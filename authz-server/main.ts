import { runProcess } from '#shared/server/process.ts';
import { silenceKnownNode } from './start/known-node.ts';

const end = silenceKnownNode(console, process.versions.node);
const { composeAuthorizationServer } = await import('./compose.ts');
end();

await runProcess(
  {
    name: 'authz',
    keys: 'keys',
    makesEpoch: true,
    origin: ({ issuer }) => issuer,
    create: (parts) =>
      composeAuthorizationServer(parts, process.env['COUNTERSIGN_TERMINAL'] === '1'),
  },
  process.env,
);

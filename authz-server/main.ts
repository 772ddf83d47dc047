import { runProcess } from '#shared/server/process.ts';
import { composeAuthorizationServer } from './compose.ts';

await runProcess(
  {
    name: 'authz',
    makesEpoch: true,
    origin: ({ issuer }) => issuer,
    create: composeAuthorizationServer,
  },
  process.env,
);

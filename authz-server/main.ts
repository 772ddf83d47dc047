import { runProcess } from '#shared/server/process.ts';
import { createAuthz } from './create.ts';

await runProcess(
  { name: 'authz', makesEpoch: true, origin: ({ issuer }) => issuer, create: createAuthz },
  process.env,
);

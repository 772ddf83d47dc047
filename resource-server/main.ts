import { runProcess } from '#shared/server/process.ts';
import { composeResourceServer } from './compose.ts';
import { fetchJson } from './fetch-json.ts';

await runProcess(
  {
    name: 'resource',
    makesEpoch: false,
    origin: ({ resource }) => resource,
    create: (parts) => composeResourceServer(parts, fetchJson),
  },
  process.env,
);

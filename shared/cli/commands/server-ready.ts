import type { Command } from '../arguments/command.ts';
import { readiness } from '../ready/readiness.ts';

export const serverReady: Command = {
  name: 'server ready',
  summary: 'ask the servers of this machine whether they are ready, such as for a health check',
  details: [
    'The command reads only the addresses of the configuration. It fails if no server runs here, or if a running server',
    'is not ready to answer requests that only read.',
  ],
  run: (_, { env }) => readiness(env),
};

import type { Command } from '../arguments/command.ts';
import { readiness } from '../ready/readiness.ts';

export const serverReady: Command = {
  name: 'server ready',
  summary: 'ask the servers of this machine whether they are ready, as the check of a container',
  details: [
    'It asks where the configuration lets them listen, and reads no other setting. It fails if no server runs here, or if a',
    'running server is not ready to answer requests that only read.',
  ],
  run: (_, { env }) => readiness(env),
};

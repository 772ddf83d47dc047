import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { liveHeap } from '../attacks/live-heap.ts';
import type { ServerProcess } from '../pair/pair.ts';
import { redisCommand } from '../parts/redis-commands.ts';
import { cpuTime, type Server } from './cpu.ts';
import { family } from './processes.ts';
import type { RedisStore } from './targets/redis.ts';

/** Seconds until nothing of the work before is left, and those that are looked at. */
const REST = 3;
const LOOKED_AT = 10;

/** The use of a server and its store in each second. */
export interface Idle {
  /** Milliseconds of CPU time. */
  readonly cpu: number;
  /** Milliseconds of CPU time of Redis, and its commands. */
  readonly redis?: { readonly cpu: number; readonly commands: number };
}

/** Looks at a server that nobody asks for anything. */
export async function idleCost({ pids }: Server, redis?: RedisStore): Promise<Idle> {
  const look = async () => ({
    cpu: cpuTime(...pids),
    redis: redis && { cpu: cpuTime(redis.pid), commands: await commandsOf(redis) },
  });
  await delay(REST * 1000);
  const before = await look();
  await delay(LOOKED_AT * 1000);
  const after = await look();
  const milliseconds = (from: number, to: number) => (to - from) / 1000 / LOOKED_AT;
  return {
    cpu: milliseconds(before.cpu, after.cpu),
    ...(before.redis &&
      after.redis && {
        redis: {
          cpu: milliseconds(before.redis.cpu, after.redis.cpu),
          commands: (after.redis.commands - before.redis.commands) / LOOKED_AT,
        },
      }),
  };
}

/** Commands that a Redis has carried out since its start. */
async function commandsOf({ url }: RedisStore): Promise<number> {
  const { hostname: host, port } = new URL(url);
  const stats = await redisCommand({ host, port: Number(port) }, ['INFO', 'stats']);
  return Number(/^total_commands_processed:(\d+)/m.exec(stats)?.[1]);
}

/** Bytes. */
export interface Held {
  /** Objects of JavaScript that a collection leaves. */
  readonly heap: number;
  /** All memory of the process, which also has what nobody uses any more. */
  readonly rss: number;
}

/** It is sent signals, and nothing else. */
const heapOf = liveHeap as (server: Pick<ServerProcess, 'signal'>) => Promise<number>;

export async function held({ pids: [pid = 0] }: Server): Promise<Held> {
  const heap = await heapOf({ signal: (signal) => void process.kill(pid, signal) });
  const rss = family(pid).reduce((sum, one) => sum + residentOf(one), 0);
  return { heap, rss };
}

/** VmRSS of proc_pid_status(5), in bytes. */
function residentOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
}

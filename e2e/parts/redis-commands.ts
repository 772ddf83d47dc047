/** Sends commands to Redis, each on its own connection (RESP2). */
import { createConnection } from 'node:net';

/** The time limit of an answer in milliseconds. */
const TIMEOUT = 5000;

export interface RedisPlace {
  readonly host: string;
  readonly port: number;
  readonly password?: string | undefined;
}

/**
 * Sends a command to Redis, and returns the answer as redis-cli prints it to a pipe, without a process:
 * array elements on separate lines, null as nothing, an error as its text. Rejects without an answer.
 */
export async function redisCommand(place: RedisPlace, args: readonly string[]): Promise<string> {
  const { host, port, password } = place;
  const commands = [...(password === undefined ? [] : [['AUTH', password]]), args];
  const socket = createConnection({ host, port });
  socket.setTimeout(TIMEOUT, () => socket.destroy(new Error('Redis does not answer')));
  socket.write(commands.map(encoded).join(''));
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk as Buffer]);
    const replies = repliesIn(received, commands.length);
    if (replies !== undefined) return replies.at(-1)?.join('\n').trim() ?? '';
  }
  throw new Error('Redis ended the connection');
}

const encoded = (args: readonly string[]) =>
  `*${args.length}\r\n${args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join('')}`;

/** The lines of each of `count` replies; undefined before all have arrived. */
function repliesIn(received: Buffer, count: number): string[][] | undefined {
  let at = 0;
  const line = () => {
    const end = received.indexOf('\r\n', at);
    if (end === -1) throw new RangeError('not all is there');
    const text = received.toString('utf8', at, end);
    at = end + 2;
    return text;
  };
  const bulk = (length: number) => {
    if (at + length + 2 > received.length) throw new RangeError('not all is there');
    const text = received.toString('utf8', at, at + length);
    at += length + 2;
    return text;
  };
  const reply = (): string[] => {
    const head = line();
    const [kind, rest] = [head[0], head.slice(1)];
    if (kind === '$') return [rest === '-1' ? '' : bulk(Number(rest))];
    if (kind === '*') return Array.from({ length: Math.max(0, Number(rest)) }, reply).flat();
    return [rest];
  };
  try {
    return Array.from({ length: count }, reply);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

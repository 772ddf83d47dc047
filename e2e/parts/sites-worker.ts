/** The thread of `Sites`, so that a busy main thread does not look like a network failure. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';

/** A request of `Sites`. Each is answered with its number once it is done. */
export type Wish =
  | {
      readonly verb: 'open';
      readonly address: string;
      readonly inside: number;
      readonly port: number;
    }
  | { readonly verb: 'divide'; readonly address: string }
  | { readonly verb: 'unite' };
export type Numbered = Wish & { readonly number: number };

/** A connection through a relay port: its two addresses and its two ends. */
interface Passage {
  readonly from: string;
  readonly to: string;
  readonly ends: readonly [Socket, Socket];
}

const passages = new Set<Passage>();
/** Addresses that are cut off from all addresses but 127.0.0.1. */
const alone = new Set<string>();

function guard({ from, to, ends }: Passage): void {
  const divided = from !== '127.0.0.1' && from !== to && (alone.has(from) || alone.has(to));
  for (const end of ends) {
    if (divided) end.pause();
    else end.resume();
  }
}

function pass(outer: Socket, to: string, inside: number): void {
  const inner = connect({ host: to, port: inside });
  const passage: Passage = { from: outer.remoteAddress ?? '', to, ends: [outer, inner] };
  passages.add(passage);
  const both: readonly (readonly [Socket, Socket])[] = [
    [outer, inner],
    [inner, outer],
  ];
  for (const [end, other] of both) {
    end.setNoDelay();
    end.on('data', (chunk) => other.write(chunk));
    end.on('error', () => {});
    end.on('close', () => {
      passages.delete(passage);
      other.destroy();
    });
  }
  guard(passage);
}

async function fulfil(wish: Wish): Promise<void> {
  if (wish.verb === 'open') {
    const { address, inside, port } = wish;
    const server = createServer((outer) => pass(outer, address, inside));
    await once(server.listen(port, address), 'listening');
    return;
  }
  if (wish.verb === 'divide') alone.add(wish.address);
  else alone.clear();
  for (const passage of passages) guard(passage);
}

parentPort?.on('message', ({ number, ...wish }: Numbered) => {
  void fulfil(wish).then(() => parentPort?.postMessage(number, []));
});

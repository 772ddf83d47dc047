/** Addresses of the loopback network between which connections can be divided, without privileges. */
import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import { freePort } from './free-port.ts';
import type { Numbered, Wish } from './sites-worker.ts';

/**
 * Servers at an address are reached through doors. Processes bind their outgoing connections to their address, too, so
 * that a door knows who knocks. Between divided addresses nothing passes, and nothing is refused: as with a pulled
 * cable, the octets on their way arrive when it is back.
 */
export class Sites implements AsyncDisposable {
  readonly #worker = new Worker(new URL('./sites-worker.ts', import.meta.url));
  #wishes = 0;

  /** Makes a port here that leads to a port of the address; resolves to the port here. */
  async door(address: string, inside: number): Promise<number> {
    const port = await freePort();
    await this.#wish({ verb: 'open', address, inside, port });
    return port;
  }

  /** Divides an address from all others but this process's own, 127.0.0.1. */
  divide(address: string): Promise<void> {
    return this.#wish({ verb: 'divide', address });
  }

  unite(): Promise<void> {
    return this.#wish({ verb: 'unite' });
  }

  async #wish(wish: Wish): Promise<void> {
    const number = (this.#wishes += 1);
    const answers = on(this.#worker, 'message');
    this.#worker.postMessage({ ...wish, number } satisfies Numbered, []);
    for await (const [done] of answers) if (done === number) return;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Loopback addresses whose connections can be cut, without privileges. */
import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import { freePort } from './free-port.ts';
import type { Numbered, Wish } from './sites-worker.ts';

/**
 * Servers at an address are reached through relay ports. Processes bind their outgoing connections to their
 * own address, so that a relay knows the sender. Between cut addresses no octet passes and no connection is
 * refused: as with an unplugged cable, held octets arrive when it is plugged in again.
 */
export class Sites implements AsyncDisposable {
  readonly #worker = new Worker(new URL('./sites-worker.ts', import.meta.url));
  #wishes = 0;

  /** Opens a relay port to a port of the address; resolves to the relay port. */
  async door(address: string, inside: number): Promise<number> {
    const port = await freePort();
    await this.#wish({ verb: 'open', address, inside, port });
    return port;
  }

  /** Cuts an address off from all addresses but 127.0.0.1, which is this process's. */
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

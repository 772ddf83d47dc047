import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { Flow } from '../../forwarding/relay.ts';
import { Frames } from './frames.ts';

/** Close, with 1001: going away (RFC 6455 sections 5.5.1 and 7.4.1). A server masks nothing. */
const GOING_AWAY = Buffer.of(0x88, 2, 0x03, 0xe9);

/** Passes on the octets of an application as fast as its client takes them. */
export class Outflow implements Flow {
  readonly #frames = new Frames();
  #sayGoodbye = () => {};
  #leaving = false;

  start(from: Socket, to: Writable): void {
    from.pipe(to);
    this.#sayGoodbye = () => {
      if (!this.#leaving || !this.#frames.between || to.writableEnded) return;
      from.unpipe(to).resume(); // behind a Close there is nothing
      to.end(GOING_AWAY);
    };
    from.on('data', (piece: Buffer) => {
      this.#frames.read(piece);
      this.#sayGoodbye();
    });
  }

  /** The client is told, as soon as no frame is under way. What it answers goes on to the application. */
  leave(): void {
    this.#leaving = true;
    this.#sayGoodbye();
  }
}

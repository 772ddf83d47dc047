import type { Content } from './cache-store.ts';
import type { InUse } from './in-use.ts';

/** Content in memory, which takes room until it is closed. */
export class MemoryContent implements Content {
  readonly whole: Buffer;
  readonly #use: InUse;
  #closed = false;

  constructor(whole: Buffer, use: InUse) {
    this.whole = whole;
    this.#use = use;
    use.begin();
  }

  read(position: number, most: number): Buffer {
    return this.whole.subarray(position, position + most);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#use.end();
  }
}

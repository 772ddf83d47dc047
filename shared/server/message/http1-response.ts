import { type IncomingMessage, type OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { Fields } from '#shared/http/answer.ts';

/** The member of node:http that says whether the answer may have content. */
interface Internals {
  _hasBody: boolean;
}

/**
 * An answer over HTTP/1.1 that holds its fields until it is written, or until a caller reads a field. node:http
 * writes fields that it gets all at once in half the time of fields that were set before.
 */
export class Http1Response<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Names and values alternately. */
  #held: OutgoingHttpHeader[] = [];
  /** True when all fields were passed to node:http. */
  #isSet = false;

  /**
   * Does the same as `setHeader` for each field, except that a malformed field throws only when the answer is
   * written.
   */
  hold(fields: Fields): void {
    const held = this.#held;
    for (const name in fields) {
      if (this.headersSent) throw new Error('An answer was begun already.');
      const value = fields[name] ?? [];
      const at = this.#find(name);
      held[at] = name;
      held[at + 1] = typeof value === 'string' ? value : [...value];
    }
  }

  override setHeader(...given: Parameters<ServerResponse['setHeader']>): this {
    this.#set();
    return super.setHeader(...given);
  }

  override appendHeader(...given: Parameters<ServerResponse['appendHeader']>): this {
    this.#set();
    return super.appendHeader(...given);
  }

  override removeHeader(name: string): void {
    this.#held.splice(this.#find(name), 2);
    super.removeHeader(name);
  }

  override hasHeader(name: string): boolean {
    this.#set();
    return super.hasHeader(name);
  }

  override getHeader(name: string): ReturnType<ServerResponse['getHeader']> {
    if (this.headersSent && !this.#isSet) return this.#held[this.#find(name) + 1];
    this.#set();
    return super.getHeader(name);
  }

  override getHeaders(): ReturnType<ServerResponse['getHeaders']> {
    this.#set();
    return super.getHeaders();
  }

  override getHeaderNames(): string[] {
    this.#set();
    return super.getHeaderNames();
  }

  /** node:http calls it, too, when content is written. */
  override writeHead(status: number, ...more: unknown[]): this {
    if (this.#isSet || more.length > 0) {
      this.#set();
      return super.writeHead(status, ...(more as []));
    }
    const { _hasBody } = this as unknown as Internals;
    try {
      return super.writeHead(status, this.#held);
    } catch (error) {
      this.statusMessage = '';
      // node:http has set `_hasBody` by the failed status; after a failed 204 the next answer would lose its content.
      Object.assign<this, Internals>(this, { _hasBody });
      this.#set(); // the well-formed fields stay for the answer that reports the error
      throw error;
    }
  }

  /** Returns the place of a field, or the place where it would be. */
  #find(name: string): number {
    const held = this.#held;
    for (let at = 0; at < held.length; at += 2) {
      const one = String(held[at]);
      if (one.length === name.length && one.toLowerCase() === name.toLowerCase()) return at;
    }
    return held.length;
  }

  #set(): void {
    const held = this.#held;
    this.#held = [];
    this.#isSet = true;
    if (this.headersSent) return;
    for (let at = 0; at < held.length; at += 2)
      super.setHeader(String(held[at]), held[at + 1] ?? []);
  }
}

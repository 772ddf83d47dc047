import { type IncomingMessage, type OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { Fields } from '#shared/http/answer.ts';

/** A member of node:http: whether the answer may have content. */
interface Internals {
  _hasBody: boolean;
}

/**
 * An answer over HTTP/1.1 that holds fields until it is written, or somebody looks at its fields one by one: node:http
 * writes those that it is given at once in half the time of those that were set before.
 */
export class Http1Response<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Names and values in turn. */
  #held: OutgoingHttpHeader[] = [];
  /** True once all fields are in node:http. */
  #isSet = false;

  /** As `setHeader` for each, but that what is malformed is told when it is written. */
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

  /** Also called by node:http, when content is written. */
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
      // A 204 that was never written would take the content of the answer after it.
      Object.assign<this, Internals>(this, { _hasBody });
      this.#set(); // as far as they are well-formed, for the answer that says so
      throw error;
    }
  }

  /** The place of a field, or where it would be. */
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

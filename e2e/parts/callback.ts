import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from './process.ts';

const PATH = '/callback';

/** A client's web server on its own origin. Browsers bring the answers to `uri`. */
export class Callback implements AsyncDisposable {
  readonly origin: string;
  readonly #server: Server;
  readonly #answers = new Map<string, Request>();
  /** The URL to which the client redirects every request. */
  leadsTo: string | undefined;

  constructor(server: Server, port: number) {
    this.origin = `http://127.0.0.1:${port}`;
    this.#server = server;
    server.on('request', (request, response) => void this.#receive(request, response));
  }

  /** The redirect URI. */
  get uri(): string {
    return `${this.origin}${PATH}`;
  }

  /** A page of the client that shows another page in a frame. */
  framing(url: string): string {
    return `${this.origin}/frame?${new URLSearchParams({ url }).toString()}`;
  }

  /** The request with the answer for this `state`; rejects if none comes. */
  async answer(state: string): Promise<Request> {
    await until(() => this.#answers.has(state));
    const answer = this.#answers.get(state);
    if (answer === undefined) throw new Error(`no answer with state ${state}`);
    return answer;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin);
    const body = await text(request);
    if (url.pathname === PATH) this.#keep(url, request, body);
    if (this.leadsTo !== undefined) {
      response.writeHead(303, { Location: this.leadsTo }).end();
      return;
    }
    const framed = url.searchParams.get('url');
    const content =
      url.pathname === '/frame' && framed !== null
        ? `<iframe src="${framed.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`
        : '<h1>The application</h1>';
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><html lang="en"><title>The application</title>${content}`);
  }

  #keep(url: URL, { method = 'GET', headers }: IncomingMessage, body: string): void {
    const posted = method === 'POST';
    const state = (posted ? new URLSearchParams(body) : url.searchParams).get('state') ?? '';
    const fields = Object.entries(headers).filter(
      (field): field is [string, string] => typeof field[1] === 'string',
    );
    const init = { method, headers: fields, ...(posted && { body }) };
    this.#answers.set(state, new Request(url, init));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export async function startCallback(): Promise<Callback> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new Callback(server, (server.address() as AddressInfo).port);
}

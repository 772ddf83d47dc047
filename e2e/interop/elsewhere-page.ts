import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Elsewhere extends AsyncDisposable {
  /** Its two origins: of the same site as ours is, and of another one. */
  readonly sameSite: string;
  readonly crossSite: string;
  /** Paths that were asked for, in order, but the icon of a page. */
  readonly asked: readonly string[];
  /** The page at each path; at any other an empty one. */
  readonly pages: Map<string, { readonly type: string; readonly body: string }>;
}

/** A server that is none of ours, with pages that a browser can be on. */
export async function startElsewhere(): Promise<Elsewhere> {
  const asked: string[] = [];
  const pages: Elsewhere['pages'] = new Map();
  const server = createServer(({ url = '' }, response) => {
    if (url !== '/favicon.ico') asked.push(url);
    const { type, body } = pages.get(url) ?? { type: 'text/html', body: '<!doctype html>' };
    response.setHeader('Content-Type', type);
    response.end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    sameSite: `http://127.0.0.1:${port}`,
    crossSite: `http://localhost:${port}`,
    asked,
    pages,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

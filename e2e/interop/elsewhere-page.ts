import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Elsewhere extends AsyncDisposable {
  /** The two origins of the page: one of the same site as the server, one of another site. */
  readonly sameSite: string;
  readonly crossSite: string;
  /** The requested paths in order, without the browser's favicon requests. */
  readonly asked: readonly string[];
  /** The page at each path. Other paths have an empty page. */
  readonly pages: Map<string, { readonly type: string; readonly body: string }>;
}

/** Starts a server of another site, with pages for a browser. */
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

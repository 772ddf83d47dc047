import { createServer, type Server } from 'node:http';
import { POLICY } from './frame.ts';
import type { Site } from './site.ts';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  png: 'image/png',
};

/** A server of the site's files, for GET and HEAD. Sources are text. */
export function siteServer(site: Site): Server {
  return createServer(({ method, url = '/' }, response) => {
    const [path = ''] = url.slice(1).split('?');
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    const body = site.get(name);
    response.setHeader('Content-Security-Policy', `${POLICY}; frame-ancestors 'none'`);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Referrer-Policy', 'no-referrer');
    if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    } else if (body === undefined) {
      response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' });
      response.end('There is no page at this address. The first page is /\n');
    } else {
      const type = TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain; charset=utf-8';
      response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-cache' }).end(body);
    }
  });
}

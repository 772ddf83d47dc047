/**
 * The suite's own server on a loopback address, below any prefix. Arguments: the folder of the suite, a
 * port.
 */
import { createServer, type RequestListener } from 'node:http';
import { importOf } from './suite.ts';

type Handler = (segments: readonly string[], ...exchange: Parameters<RequestListener>) => unknown;

const [folder = '', port = ''] = process.argv.slice(2);
const handlers = new Map<string, Handler>();
for (const name of ['config', 'state', 'test']) {
  const { default: handler } = await importOf(folder, `server/handle-${name}.mjs`);
  handlers.set(name, handler as Handler);
}

createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '', 'http://localhost');
  const segments = pathname.split('/');
  const at = segments.findIndex((segment) => handlers.has(segment));
  const handler = handlers.get(segments[at] ?? '');
  if (handler === undefined) response.writeHead(404).end();
  else handler(segments.slice(at + 1), request, response);
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('listening\n'));

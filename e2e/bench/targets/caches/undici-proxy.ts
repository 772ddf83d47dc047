/** A proxy with undici's cache and nothing else. Arguments: port, origin. */
import { createServer } from 'node:http';
import { Agent, cacheStores, interceptors } from 'undici';

const [port = '', origin = ''] = process.argv.slice(2);
const store = new cacheStores.MemoryCacheStore({ maxSize: 256 * 1024 ** 2 });
const dispatcher = new Agent().compose(interceptors.cache({ store, type: 'shared' }));

/** Fields of a connection (RFC 9110 section 7.6.1), and fields that undici writes itself. */
const HOP = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'host',
]);

/** A list of name, value, name, value, without fields of the connection. */
function passed(raw: readonly string[]): string[] {
  const pairs = raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []));
  return pairs.filter(([name = '']) => !HOP.has(name.toLowerCase())).flat();
}

createServer((request, response) => {
  const { method = 'GET', url: path = '/', rawHeaders } = request;
  const sends = request.headers['content-length'] ?? request.headers['transfer-encoding'];
  dispatcher.dispatch(
    {
      origin,
      path,
      method,
      headers: passed(rawHeaders),
      body: sends === undefined ? null : request,
    },
    {
      onRequestStart() {},
      onResponseStart(_, status, headers, phrase) {
        if (status < 200) return;
        const fields = Object.entries(headers).filter(([name]) => !HOP.has(name.toLowerCase()));
        const flat = fields.flatMap(([name, value]) =>
          [value ?? []].flat().flatMap((one) => [name, one]),
        );
        response.writeHead(status, phrase, flat);
      },
      onResponseData: (_, piece) => void response.write(piece),
      onResponseEnd: () => void response.end(),
      onResponseError() {
        if (response.headersSent) response.destroy();
        else response.writeHead(502).end();
      },
    },
  );
}).listen(Number(port), '127.0.0.1');

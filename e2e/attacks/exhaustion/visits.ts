import http from 'node:http';

/** One visit of a client. Rejects if the answer is not complete. */
export type Visit = (port: number, address: string) => Promise<void>;

/** Milliseconds without an octet after which a visitor gives up. */
const PATIENCE = 20_000;

/** Milliseconds for which all downloads ask for the same URL. */
export const ROUND = 2000;
export const downloadNow = () => `/cached/long/${Math.floor(Date.now() / ROUND)}`;

export const head = (line: string, ...fields: readonly string[]) =>
  [`${line} HTTP/1.1`, 'Host: 127.0.0.1', ...fields, '', ''].join('\r\n');

const HANDSHAKE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

export const handshake = head(
  'GET /open/socket',
  ...Object.entries(HANDSHAKE).map(([name, value]) => `${name}: ${value}`),
);

/** Sends a GET request, and counts the octets of its answer. */
function ask(port: number, localAddress: string, path: string, headers = {}): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const way = { host: '127.0.0.1', port, localAddress, agent: false, timeout: PATIENCE };
  const request = http.get({ ...way, path, headers });
  request.once('timeout', () => request.destroy(new Error(`${path}: silent`)));
  request.once('error', reject);
  request.once('upgrade', (_, socket) => {
    socket.destroy();
    resolve(0);
  });
  request.once('response', (response) => {
    let octets = 0;
    response.on('data', (piece: Buffer) => (octets += piece.length));
    response.once('error', reject);
    response.once('end', () => {
      if (response.statusCode === 200) resolve(octets);
      else reject(new Error(`${path}: ${response.statusCode}`));
    });
  });
  return promise;
}

/** A visit that gets a short answer of the application. */
export const exchange: Visit = async (port, address) => {
  await ask(port, address, '/open/x');
};

/** A visit that gets a long answer, which other clients ask for at the same time. */
export const download: Visit = async (port, address) => {
  await ask(port, address, downloadNow());
};

/** A visit that opens a WebSocket. */
export const opening: Visit = async (port, address) => {
  await ask(port, address, '/open/socket', HANDSHAKE);
};

import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { RESOURCE, startResourceServer } from './resource-server.fixture.ts';
import { spaceAt } from './spaces-under-test.fixture.ts';

/** A request as the application received it. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly version: string;
  readonly raw: readonly string[];
  readonly fields: http.IncomingHttpHeaders;
  readonly trailers: readonly string[];
  readonly body: string;
}

export interface Application extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly asked: Asked[];
}

/** Starts an application that records its requests. By default it answers 200 with the request in JSON. */
export async function startApplication(answer?: RequestListener): Promise<Application> {
  const asked: Asked[] = [];
  const server = http.createServer((request, response) => {
    void (async () => {
      if (answer) return answer(request, response);
      const body = (await buffer(request)).toString('latin1');
      const { method = '', url = '', httpVersion: version, rawHeaders: raw, headers } = request;
      const one = {
        method,
        url,
        version,
        raw,
        fields: headers,
        trailers: request.rawTrailers,
        body,
      };
      asked.push(one);
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(one));
    })();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Starts a resource server with spaces at `/name/`, each configured by the value under its name. */
export const startGateway = (
  spaces: Readonly<Record<string, object>>,
  changes: object = {},
  wrap?: Parameters<typeof startResourceServer>[1],
) =>
  startResourceServer(
    {
      spaces: Object.entries(spaces).map(([name, more]) =>
        spaceAt(name, { serves: 'upstream', ...more }),
      ),
      ...changes,
    },
    wrap,
  );

export { RESOURCE };
